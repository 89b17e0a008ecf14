#pragma once
// A text file that grows while a run goes on.

#include <chrono>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

namespace adbo::io {

/// What is written reaches the system within a second, so that a killed run leaves all but its last one.
/// Every failure to write is an OutputError. One thread.
class GrowingFile {
 public:
  /// Opens nothing.
  explicit GrowingFile(std::string path) : path_(std::move(path)) {}

  /// A new file, in place of an old one.
  void begin();
  /// Goes on with the first `bytes` of the file that is there. False: it has fewer, or could not be cut; then
  /// with all it has.
  [[nodiscard]] bool continue_at(std::uint64_t bytes);

  void write(std::string_view text);
  /// Bytes so far, all of them handed to the system.
  [[nodiscard]] std::uint64_t flushed_bytes();
  /// Flushes and closes.
  void finish();

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  void check() const;

  std::string path_;
  std::ofstream file_;
  std::chrono::steady_clock::time_point last_flush_ = std::chrono::steady_clock::now();
};

}  // namespace adbo::io
