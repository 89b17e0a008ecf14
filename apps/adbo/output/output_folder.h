#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace adbo::app {

/// What the files of checkpoints begin and end with.
inline constexpr std::string_view kCheckpointPrefix = "checkpoint", kCheckpointEnding = ".adbo";

/// Held by the process that writes to a folder.
class FolderLock;

/// The folder of the output files. Checked before any work, made only when the work begins, so that a refused
/// command leaves nothing behind.
class OutputFolder {
 public:
  /// UsageError as refuse_unusable() has it.
  explicit OutputFolder(std::string path);
  /// One that there may turn out to be nothing to write to.
  static OutputFolder not_yet_checked(std::string path);
  /// UsageError naming the path when it is a file, when it or its nearest existing parent takes no new files,
  /// and when a folder or a pipe stands where a result file goes.
  void refuse_unusable() const;

  /// Makes the folder and its parents, and removes the result files of an earlier run from it. UsageError
  /// when that fails after all, or another process is writing there.
  void create() const;
  /// The folder of a run that is to be gone on with: nothing of it is removed. UsageError as above.
  void reopen() const;
  /// Of a run that is gone on with: what its rest goes on writing stays, results made of all of it go.
  void remove_results() const;
  /// Whether a run into this folder (`with_parts`: or into one within it) would remove or overwrite the file
  /// at `path`, because of its name and of where it lies.
  [[nodiscard]] bool would_lose(std::string_view path, bool with_parts) const;
  [[nodiscard]] std::string file(std::string_view name) const;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  OutputFolder() = default;
  [[nodiscard]] bool would_lose_entry(const std::filesystem::path& entry, bool with_parts) const;
  void make() const;
  void refuse_obstacles() const;

  std::string path_;
  mutable std::shared_ptr<const FolderLock> lock_;  ///< once the folder is made
};

}  // namespace adbo::app
