#include "output/output_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "support/exit_code.h"

namespace adbo::app {
namespace {

namespace fs = std::filesystem;

/// Every file that a run may leave: those of an earlier run in the same folder go when a new one begins, so
/// that none stands beside a summary it does not belong to.
constexpr std::array<std::string_view, 12> kResultFiles{
    "summary.json", "suspects.csv", "gallery.json", "coefficients.csv", "scaling.csv", "upper.npy",
    "model.npy",    "table.md",     "table.csv",    "runs.csv",         "table.json",  "report.html"};
/// What a run goes on writing when it is resumed; checkpoints beside them.
constexpr std::array<std::string_view, 7> kRunFiles{"arrivals.csv",  "arrivals_refit.csv", "run.json",
                                                    "chosen.adbo",   "trace.csv",          "trace_refit.csv",
                                                    "finished.jsonl"};

template <class Names>
void remove_files(const OutputFolder& folder, const Names& names) {
  std::error_code error;
  for (const std::string_view name : names) {
    if (fs::is_regular_file(folder.file(name), error)) fs::remove(folder.file(name), error);
  }
}

/// Removes the files whose names `goes`.
template <class Predicate>
void remove_if(const std::string& path, const Predicate& goes) {
  std::error_code error;
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
    if (goes(entry.path().filename().string())) found.push_back(entry.path());
  }
  for (const fs::path& file : found) fs::remove(file, error);
}

bool is_checkpoint(const std::string& name) {
  return name.starts_with(kCheckpointPrefix) && name.ends_with(kCheckpointEnding);
}

bool is_output(const std::string& name) {
  const auto is = [&name](std::string_view known) { return name == known; };
  return is_checkpoint(name) || std::any_of(kResultFiles.begin(), kResultFiles.end(), is) ||
         std::any_of(kRunFiles.begin(), kRunFiles.end(), is);
}

/// What a killed process had begun to write: io::AtomicFile's.
bool is_partial(const std::string& name) {
  const std::size_t mark = name.find(".partial-");
  return mark != std::string::npos && is_output(name.substr(0, mark));
}

/// The path itself or the nearest parent that exists.
fs::path nearest_existing(fs::path path) {
  std::error_code ignored;
  path = fs::absolute(path, ignored).lexically_normal();
  while (!fs::exists(path, ignored) && path.has_relative_path()) path = path.parent_path();
  return path;
}

/// Of a file without a name, which a kill cannot leave behind.
bool takes_files(const fs::path& folder) {
  const int file = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0) return false;  // or its file system has no such files
  ::close(file);
  return true;
}

/// By an attempt: permissions alone do not tell of a file system that is mounted read-only, is full, or takes
/// no folders at all.
void refuse_unwritable(const std::string& out, const fs::path& existing) {
  if (takes_files(existing)) return;
  std::string attempt = (existing / ".adbo-XXXXXX").string();
  if (::mkdtemp(attempt.data()) == nullptr) {
    throw UsageError(fmt::format("out = \"{}\": {} cannot be written to: {}", out, existing.string(),
                                 std::generic_category().message(errno)));
  }
  ::rmdir(attempt.c_str());
}

}  // namespace

/// The folder itself is what is locked: no file is left, and the system lets go when the process ends,
/// however it ends. File systems that know no locks do without.
class FolderLock {
 public:
  explicit FolderLock(const std::string& path)
      : descriptor_(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (descriptor_ < 0 || ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
    ::close(descriptor_);
    throw UsageError(fmt::format("out = \"{}\": another adbo is writing there", path));
  }
  ~FolderLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

OutputFolder::OutputFolder(std::string path) : path_(std::move(path)) { refuse_unusable(); }

OutputFolder OutputFolder::not_yet_checked(std::string path) {
  OutputFolder folder;
  folder.path_ = std::move(path);
  return folder;
}

void OutputFolder::refuse_unusable() const {
  const fs::path existing = nearest_existing(path_);
  std::error_code error;
  if (!fs::is_directory(existing, error)) {
    throw UsageError(fmt::format("out = \"{}\": {} is not a folder", path_, existing.string()));
  }
  if (fs::is_symlink(path_, error) && !fs::exists(path_, error))
    throw UsageError(fmt::format("out = \"{}\": is a link to a folder that is not there", path_));
  refuse_unwritable(path_, existing);
  refuse_obstacles();
}

void OutputFolder::refuse_obstacles() const {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_, error)) {
    const fs::file_status status = entry.status(error);  // of what a link leads to
    const bool never_ends = fs::is_fifo(status) || fs::is_socket(status);
    if (!is_output(entry.path().filename().string()) || !(fs::is_directory(status) || never_ends)) continue;
    throw UsageError(fmt::format("out = \"{}\": {} is {}, where a file of that name goes", path_,
                                 entry.path().string(), never_ends ? "a pipe" : "a folder"));
  }
}

void OutputFolder::make() const {
  std::error_code error;
  fs::create_directories(path_, error);
  if (error) throw UsageError(fmt::format("out = \"{}\": cannot be made: {}", path_, error.message()));
  if (lock_ == nullptr) lock_ = std::make_shared<FolderLock>(path_);
}

void OutputFolder::create() const {
  make();
  remove_files(*this, kResultFiles);
  remove_files(*this, kRunFiles);
  remove_if(path_, is_checkpoint);
  remove_if(path_, is_partial);
}

void OutputFolder::reopen() const {
  make();
  remove_if(path_, is_partial);
}

void OutputFolder::remove_results() const { remove_files(*this, kResultFiles); }

bool OutputFolder::would_lose(std::string_view path, bool with_parts) const {
  std::error_code error;
  const fs::path given = fs::absolute(fs::path(path), error).lexically_normal();
  const fs::path meant = fs::weakly_canonical(given, error);  // where a link leads
  return would_lose_entry(given, with_parts) || (!meant.empty() && would_lose_entry(meant, with_parts));
}

bool OutputFolder::would_lose_entry(const fs::path& entry, bool with_parts) const {
  const std::string name = entry.filename().string();
  if (!is_output(name) && !is_partial(name)) return false;
  std::error_code error;
  const fs::path folder = fs::weakly_canonical(fs::absolute(path_, error), error);
  const fs::path holder = fs::weakly_canonical(entry.parent_path(), error);
  if (holder == folder) return true;
  const fs::path within = holder.lexically_relative(folder);
  return with_parts && !within.empty() && *within.begin() != "..";
}

std::string OutputFolder::file(std::string_view name) const { return (fs::path(path_) / name).string(); }

}  // namespace adbo::app
