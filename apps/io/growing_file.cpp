#include "io/growing_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "io/error.h"

namespace adbo::io {
namespace {

constexpr std::chrono::seconds kFlushInterval{1};

struct Beginning {
  Extent all;
  Extent lines;  ///< up to and with the last line end
};

/// Of the first `most` bytes, or all where there are fewer; empty of a file that cannot be read.
Beginning beginning_of(const std::string& path, std::uint64_t most) {
  std::ifstream file(path, std::ios::binary);
  Beginning result;
  std::array<char, 1 << 16> part;
  while (file && result.all.bytes < most) {
    const std::uint64_t left = most - result.all.bytes;
    file.read(part.data(), static_cast<std::streamsize>(std::min<std::uint64_t>(part.size(), left)));
    const std::string_view read(part.data(), static_cast<std::size_t>(file.gcount()));
    const std::size_t line_end = read.rfind('\n') + 1;  // 0: there is none
    result.all.extend(read.substr(0, line_end));
    if (line_end > 0) result.lines = result.all;
    result.all.extend(read.substr(line_end));
  }
  return result;
}

}  // namespace

void Extent::extend(std::string_view by) {
  bytes += by.size();
  digest.update(by);
}

void GrowingFile::begin() {
  file_.open(path_, std::ios::binary | std::ios::trunc);
  written_ = {};
  check();
}

Continuation GrowingFile::continue_at(const Extent& had) {
  const Beginning there = beginning_of(path_, had.bytes);
  Continuation found = there.all.digest == had.digest ? Continuation::kWhole : Continuation::kChanged;
  if (there.all.bytes < had.bytes) found = Continuation::kShorter;
  const Extent& kept = found == Continuation::kWhole ? there.all : there.lines;
  std::error_code error;
  std::filesystem::resize_file(path_, kept.bytes, error);
  written_ = kept;
  file_.open(path_, std::ios::binary | std::ios::app);
  check();
  return error ? Continuation::kShorter : found;
}

void GrowingFile::write(std::string_view text) {
  file_ << text;
  written_.extend(text);
  const auto now = std::chrono::steady_clock::now();
  if (now - last_flush_ >= kFlushInterval) {
    last_flush_ = now;
    file_.flush();
  }
  check();
}

Extent GrowingFile::flushed() {
  file_.flush();
  check();
  return written_;
}

void GrowingFile::finish() {
  file_.close();
  check();
}

void GrowingFile::check() const {
  if (file_) return;
  const int reason = errno;  // of the write that failed: nothing came between
  throw OutputError(path_, reason == 0 ? "cannot be written"
                                       : "cannot be written: " + std::generic_category().message(reason));
}

}  // namespace adbo::io
