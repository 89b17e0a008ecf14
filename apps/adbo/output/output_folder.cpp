#include "output/output_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "support/exit_code.h"

namespace adbo::app {
namespace {

namespace fs = std::filesystem;

/// Every file that a run may leave: those of an earlier run in the same folder go when a new one begins, so
/// that none stands beside a summary it does not belong to.
constexpr std::array<std::string_view, 14> kResultFiles{
    "summary.json",     "trace.csv",   "trace_refit.csv", "suspects.csv", "gallery.json",
    "coefficients.csv", "scaling.csv", "upper.npy",       "model.npy",    "table.md",
    "table.csv",        "runs.csv",    "table.json",      "report.html"};

/// The path itself or the nearest parent that exists.
fs::path nearest_existing(fs::path path) {
  std::error_code ignored;
  path = fs::absolute(path, ignored).lexically_normal();
  while (!fs::exists(path, ignored) && path.has_relative_path()) path = path.parent_path();
  return path;
}

/// By an attempt: permissions alone do not tell of a file system that is mounted read-only, is full, or takes
/// no folders at all.
void refuse_unwritable(const std::string& out, const fs::path& existing) {
  std::string attempt = (existing / ".adbo-XXXXXX").string();
  if (::mkdtemp(attempt.data()) == nullptr) {
    throw UsageError(fmt::format("out = \"{}\": {} cannot be written to: {}", out, existing.string(),
                                 std::generic_category().message(errno)));
  }
  ::rmdir(attempt.c_str());
}

}  // namespace

OutputFolder::OutputFolder(std::string path) : path_(std::move(path)) {
  const fs::path existing = nearest_existing(path_);
  std::error_code error;
  if (!fs::is_directory(existing, error)) {
    throw UsageError(fmt::format("out = \"{}\": {} is not a folder", path_, existing.string()));
  }
  if (fs::is_symlink(path_, error) && !fs::exists(path_, error))
    throw UsageError(fmt::format("out = \"{}\": is a link to a folder that is not there", path_));
  refuse_unwritable(path_, existing);
  refuse_folders_in_the_way();
}

void OutputFolder::refuse_folders_in_the_way() const {
  std::error_code error;
  for (const std::string_view name : kResultFiles) {
    if (!fs::is_directory(file(name), error)) continue;
    throw UsageError(fmt::format("out = \"{}\": {} is a folder, where a result file of that name goes", path_,
                                 file(name)));
  }
}

void OutputFolder::create() const {
  std::error_code error;
  fs::create_directories(path_, error);
  if (error) throw UsageError(fmt::format("out = \"{}\": cannot be made: {}", path_, error.message()));
  for (const std::string_view name : kResultFiles) {
    if (fs::is_regular_file(file(name), error)) fs::remove(file(name), error);
  }
}

std::string OutputFolder::file(std::string_view name) const { return (fs::path(path_) / name).string(); }

}  // namespace adbo::app
