#include "io/growing_file.h"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "io/error.h"

namespace adbo::io {
namespace {

constexpr std::chrono::seconds kFlushInterval{1};

/// Bytes up to and with the last line end.
std::uint64_t end_of_last_line(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::uint64_t bytes = 0, end = 0;
  for (char letter = 0; file.get(letter);) {
    ++bytes;
    if (letter == '\n') end = bytes;
  }
  return end;
}

}  // namespace

void GrowingFile::begin() {
  file_.open(path_, std::ios::binary | std::ios::trunc);
  check();
}

bool GrowingFile::continue_at(std::uint64_t bytes) {
  std::error_code error;
  const std::uint64_t there = std::filesystem::file_size(path_, error);
  const bool is_whole = !error && there >= bytes;
  const std::uint64_t kept = is_whole ? bytes : error ? 0 : end_of_last_line(path_);
  if (!error) std::filesystem::resize_file(path_, kept, error);
  file_.open(path_, std::ios::binary | std::ios::app);
  check();
  return is_whole && !error;
}

void GrowingFile::write(std::string_view text) {
  file_ << text;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_flush_ >= kFlushInterval) {
    last_flush_ = now;
    file_.flush();
  }
  check();
}

std::uint64_t GrowingFile::flushed_bytes() {
  file_.flush();
  check();
  return static_cast<std::uint64_t>(file_.tellp());
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
