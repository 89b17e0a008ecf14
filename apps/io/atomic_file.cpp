#include "io/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "io/error.h"

namespace adbo::io {
namespace {

/// The file that the name stands for: links followed as far as they lead.
std::string follow_links(const std::string& path) {
  std::error_code error;
  const std::filesystem::path target = std::filesystem::weakly_canonical(path, error);
  return error ? path : target.string();
}

bool is_special(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

std::string temporary_name(const std::string& target) {
  static std::atomic<unsigned> counter{0};  // two files of one process never share a name
  return fmt::format("{}.partial-{}-{}", target, ::getpid(), counter.fetch_add(1, std::memory_order_relaxed));
}

}  // namespace

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)), target_(follow_links(path_)) {
  constexpr mode_t kReadWriteByUmask = 0666;
  if (is_special(target_)) {
    descriptor_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    temporary_ = temporary_name(target_);
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kReadWriteByUmask);
  }
  if (descriptor_ < 0) fail("cannot be created", errno);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;  // committed
  ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      fail("cannot be written", errno);
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void AtomicFile::commit() {
  // A rename that reaches the disk before the bytes would leave an empty file after a power cut. Pipes cannot
  // be synced.
  if (!temporary_.empty() && ::fsync(descriptor_) != 0) fail("cannot be brought to the disk", errno);
  const int descriptor = std::exchange(descriptor_, -1);
  const bool closed = ::close(descriptor) == 0;
  int error_number = closed ? 0 : errno;
  if (closed && !temporary_.empty() && std::rename(temporary_.c_str(), target_.c_str()) != 0)
    error_number = errno;
  if (error_number == 0) return;
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  fail("cannot be put in its place", error_number);
}

void AtomicFile::fail(const char* action, int error_number) const {
  throw OutputError(path_, fmt::format("{}: {}", action, std::generic_category().message(error_number)));
}

void write_file(const std::string& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

}  // namespace adbo::io
