#include "output/output_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "support/exit_code.h"

namespace adbo::app {
namespace {

namespace fs = std::filesystem;

/// The path itself or the nearest parent that exists.
fs::path nearest_existing(fs::path path) {
  std::error_code ignored;
  path = fs::absolute(path, ignored).lexically_normal();
  while (!fs::exists(path, ignored) && path.has_relative_path()) path = path.parent_path();
  return path;
}

}  // namespace

OutputFolder::OutputFolder(std::string path) : path_(std::move(path)) {
  const fs::path existing = nearest_existing(path_);
  std::error_code error;
  if (!fs::is_directory(existing, error)) {
    throw UsageError(fmt::format("out = \"{}\": {} is not a folder", path_, existing.string()));
  }
  if (::access(existing.c_str(), W_OK | X_OK) != 0) {
    throw UsageError(fmt::format("out = \"{}\": {} cannot be written to", path_, existing.string()));
  }
}

void OutputFolder::create() const {
  std::error_code error;
  fs::create_directories(path_, error);
  if (error) throw UsageError(fmt::format("out = \"{}\": cannot be made: {}", path_, error.message()));
}

std::string OutputFolder::file(std::string_view name) const { return (fs::path(path_) / name).string(); }

}  // namespace adbo::app
