#pragma once
// A file that appears under its name only when it is whole.

#include <string>
#include <string_view>

namespace adbo::io {

/// Writes to `<path>.partial-<pid>-<n>` beside the target; commit() syncs it and renames it over the target,
/// so that a reader (or a killed run) never sees half a file. The destructor removes what was not committed.
/// A symbolic link is followed; a target that exists and is no regular file (a pipe, a terminal) is written
/// in place. One thread.
class AtomicFile {
 public:
  /// OutputError when the file cannot be created.
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// OutputError when not all bytes could be written (full disk, size limit).
  void write(std::string_view bytes);
  /// OutputError when the bytes could not be brought to the disk or the file not be renamed. Call once.
  void commit();

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  [[noreturn]] void fail(const char* action, int error_number) const;

  std::string path_;       // as given, for messages
  std::string target_;     // links followed
  std::string temporary_;  // empty: written in place
  int descriptor_ = -1;
};

/// Writes one whole file atomically.
void write_file(const std::string& path, std::string_view bytes);

}  // namespace adbo::io
