#pragma once
// A text file that grows while a run goes on.

#include <chrono>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

#include "io/digest.h"

namespace adbo::io {

/// What a file held at some time: how many bytes, and their checksum.
struct Extent {
  std::uint64_t bytes = 0;
  Digest digest;

  void extend(std::string_view by);
  template <class Archive>
  void persist(Archive& archive) {
    archive(bytes, digest);
  }
};

/// How a file that is gone on with was found.
enum class Continuation {
  kWhole,
  kShorter,  ///< it has fewer bytes than it had, or could not be cut
  kChanged   ///< other bytes are in the place of those that it had
};

/// What is written reaches the system within a second, so that a killed run leaves all but its last one.
/// Every failure to write is an OutputError. One thread.
class GrowingFile {
 public:
  /// Opens nothing.
  explicit GrowingFile(std::string path) : path_(std::move(path)) {}

  /// A new file, in place of an old one.
  void begin();
  /// Goes on with what the file `had`, without what came later. Where that is not there any more, with the
  /// whole lines among as many bytes as it had.
  [[nodiscard]] Continuation continue_at(const Extent& had);

  void write(std::string_view text);
  /// What has been written so far, all of it handed to the system.
  [[nodiscard]] Extent flushed();
  /// Flushes and closes.
  void finish();

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  void check() const;

  std::string path_;
  std::ofstream file_;
  Extent written_;  ///< all that the file holds
  std::chrono::steady_clock::time_point last_flush_ = std::chrono::steady_clock::now();
};

}  // namespace adbo::io
