#include "io/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <new>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>

#include "io/error.h"

namespace adbo::io {
namespace {

constexpr std::size_t kSmallestBufferBytes = std::size_t{1} << 16;

std::string system_message(int error_number) { return std::generic_category().message(error_number); }

/// An open file for reading, closed at the end of the scope.
class InputFile {
 public:
  explicit InputFile(const std::string& path)
      : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) {
      const int error_number = errno;
      if (error_number == ENOENT) throw InputError(path, "no such file");
      throw InputError(path, "cannot be opened: " + system_message(error_number));
    }
  }
  ~InputFile() { ::close(descriptor_); }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// What the file system says about the size; 0 for pipes.
  [[nodiscard]] std::size_t expected_bytes() const {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0)
      throw InputError(path_, "cannot be read: " + system_message(errno));
    if (S_ISDIR(status.st_mode)) throw InputError(path_, "is a directory, expected a file");
    return S_ISREG(status.st_mode) ? static_cast<std::size_t>(status.st_size) : 0;
  }

  /// Bytes read into [data, data + count); 0 at the end of the file.
  [[nodiscard]] std::size_t read(char* data, std::size_t count) const {
    for (;;) {
      const ssize_t got = ::read(descriptor_, data, count);
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR) throw InputError(path_, "cannot be read: " + system_message(errno));
    }
  }

 private:
  const std::string& path_;
  int descriptor_;
};

std::string read_all(const std::string& path) {
  const InputFile file(path);
  std::string bytes;
  std::size_t size = 0;
  // One byte more than expected, so that the end is seen without growing.
  bytes.resize(std::max(file.expected_bytes() + 1, kSmallestBufferBytes));
  while (const std::size_t got = file.read(bytes.data() + size, bytes.size() - size)) {
    size += got;
    if (size == bytes.size()) bytes.resize(2 * size);
  }
  bytes.resize(size);
  if (bytes.empty()) throw InputError(path, "is empty");
  return bytes;
}

/// What surrounds the deflated bytes; the values are zlib's.
enum class Wrapping { kNone = -MAX_WBITS, kGzip = MAX_WBITS + 16 };

/// zlib's state for one gzip file or one deflated stream.
class Inflater {
 public:
  Inflater(std::string_view packed, const std::string& source, std::uint64_t max_unpacked_bytes,
           Wrapping wrapping)
      : packed_(packed),
        source_(source),
        kind_(wrapping == Wrapping::kGzip ? "gzip" : "deflated"),
        max_unpacked_bytes_(unpack_limit(packed.size(), max_unpacked_bytes, physical_memory_bytes())) {
    if (inflateInit2(&stream_, static_cast<int>(wrapping)) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  std::string gunzip() {
    grow(std::max(kSmallestBufferBytes, 2 * packed_.size()));
    do {
      unpack_member();
    } while (used_ < packed_.size());
    unpacked_.resize(produced_);
    return std::move(unpacked_);
  }

  std::string inflate_stream() {
    grow(kSmallestBufferBytes);
    while (step() != Z_STREAM_END) {
    }
    if (used_ < packed_.size()) {
      throw InputError(source_, fmt::format("{} bytes follow the end of the deflated data at byte {}",
                                            packed_.size() - used_, used_));
    }
    unpacked_.resize(produced_);
    return std::move(unpacked_);
  }

 private:
  /// One byte more than allowed is enough to see that there is more.
  void grow(std::uint64_t bytes) { unpacked_.resize(std::min(bytes, max_unpacked_bytes_ + 1)); }

  void unpack_member() {
    if (!is_gzip(packed_.substr(used_))) {
      throw InputError(source_, fmt::format("{} bytes follow the end of the gzip data at byte {}",
                                            packed_.size() - used_, used_));
    }
    inflateReset(&stream_);
    while (step() != Z_STREAM_END) {
    }
  }

  /// One call of inflate on as much input and output as zlib's 32-bit counters allow.
  int step() {
    constexpr std::size_t kLargestStep = std::numeric_limits<uInt>::max();
    if (produced_ == unpacked_.size()) grow(2 * unpacked_.size());
    const std::size_t input_bytes = std::min(packed_.size() - used_, kLargestStep);
    const std::size_t room_bytes = std::min(unpacked_.size() - produced_, kLargestStep);
    // zlib does not write through next_in; its interface predates const.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed_.data() + used_));
    stream_.avail_in = static_cast<uInt>(input_bytes);
    stream_.next_out = reinterpret_cast<Bytef*>(unpacked_.data() + produced_);
    stream_.avail_out = static_cast<uInt>(room_bytes);
    const int status = inflate(&stream_, Z_NO_FLUSH);
    used_ += input_bytes - stream_.avail_in;
    produced_ += room_bytes - stream_.avail_out;
    check(status);
    return status;
  }

  void check(int status) const {
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
      throw InputError(source_,
                       fmt::format("damaged {} data near byte {} of {}: {}", kind_, used_, packed_.size(),
                                   stream_.msg != nullptr ? stream_.msg : "unknown error"));
    }
    if (status != Z_STREAM_END && used_ == packed_.size() && stream_.avail_out != 0) {
      throw InputError(source_,
                       fmt::format("truncated {} data: the {} bytes present unpack to {} bytes and then end "
                                   "in the middle",
                                   kind_, packed_.size(), produced_));
    }
    if (produced_ > max_unpacked_bytes_) {
      throw InputError(source_, fmt::format("its {} bytes unpack to more than the {} bytes allowed; if they "
                                            "are meant to, unpack the file first",
                                            packed_.size(), max_unpacked_bytes_));
    }
  }

  std::string_view packed_;
  const std::string& source_;
  const char* kind_;
  std::uint64_t max_unpacked_bytes_;
  z_stream stream_{};
  std::string unpacked_;
  std::size_t used_ = 0;
  std::size_t produced_ = 0;
};

}  // namespace

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

std::uint64_t physical_memory_bytes() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), page_bytes = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page_bytes <= 0) return std::numeric_limits<std::uint64_t>::max();
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes);
}

std::uint64_t unpack_limit(std::uint64_t packed_bytes, std::uint64_t most, std::uint64_t memory_bytes) {
  constexpr std::uint64_t kUnsuspicious = std::uint64_t{1} << 30;
  constexpr std::uint64_t kLargestRatio = 200;
  const std::uint64_t by_size = std::max(kUnsuspicious, kLargestRatio * packed_bytes);
  return std::min({most, by_size, memory_bytes / 2});
}

std::string inflate_raw(std::string_view packed, const std::string& source,
                        std::uint64_t max_unpacked_bytes) {
  try {
    return Inflater(packed, source, max_unpacked_bytes, Wrapping::kNone).inflate_stream();
  } catch (const std::bad_alloc&) {
    throw InputError(source, "not enough memory to unpack it");
  }
}

std::string gunzip(std::string_view packed, const std::string& source, std::uint64_t max_unpacked_bytes) {
  try {
    return Inflater(packed, source, max_unpacked_bytes, Wrapping::kGzip).gunzip();
  } catch (const std::bad_alloc&) {
    throw InputError(source, "not enough memory to unpack it");
  }
}

std::string read_bytes(const std::string& path, std::uint64_t max_unpacked_bytes) {
  std::string bytes;
  try {
    bytes = read_all(path);
  } catch (const std::bad_alloc&) {
    throw InputError(path, "not enough memory to read it");
  } catch (const std::length_error&) {
    throw InputError(path, "not enough memory to read it");
  }
  if (!is_gzip(bytes)) return bytes;
  std::string unpacked = gunzip(bytes, path, max_unpacked_bytes);
  if (unpacked.empty()) throw InputError(path, "is empty once unpacked");
  return unpacked;
}

}  // namespace adbo::io
