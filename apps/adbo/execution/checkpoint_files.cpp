#include "execution/checkpoint_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>
#include <utility>

#include "adbo/state_archive.h"
#include "io/atomic_file.h"
#include "io/byte_source.h"
#include "io/error.h"

namespace adbo::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kKept = 2;

struct Entry {
  std::int64_t iteration = 0;
  std::string name;
};

/// The iteration of PREFIX-ITERATION.adbo; nothing for other names.
std::optional<std::int64_t> iteration_of(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix) || !name.ends_with(kCheckpointEnding)) return std::nullopt;
  name = name.substr(prefix.size(), name.size() - prefix.size() - kCheckpointEnding.size());
  if (name.size() < 2 || name.front() != '-') return std::nullopt;
  std::int64_t iteration = 0;
  const char* const end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + 1, end, iteration);
  if (error != std::errc() || stop != end || iteration < 0) return std::nullopt;
  return iteration;
}

/// Newest first.
std::vector<Entry> list(const OutputFolder& folder, std::string_view prefix) {
  std::vector<Entry> entries;
  std::error_code error;
  for (const fs::directory_entry& file : fs::directory_iterator(folder.path(), error)) {
    const std::string name = file.path().filename().string();
    if (const auto iteration = iteration_of(name, prefix)) entries.push_back({*iteration, name});
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.iteration > b.iteration; });
  return entries;
}

void remove(const OutputFolder& folder, const std::string& name) {
  std::error_code ignored;
  fs::remove(folder.file(name), ignored);
}

}  // namespace

CheckpointFiles::CheckpointFiles(const OutputFolder& folder, std::string prefix, CheckpointRule rule)
    : folder_(folder), prefix_(std::move(prefix)), rule_(rule) {}

bool CheckpointFiles::is_due(std::int64_t iteration) {
  if (iteration == 0) return false;
  if (rule_.every > 0 && iteration % rule_.every == 0) return true;
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - last_;
  return rule_.interval > 0 && passed.count() >= rule_.interval;
}

void CheckpointFiles::store(std::int64_t iteration, std::span<const std::byte> image) {
  const std::string name = fmt::format("{}-{:09}{}", prefix_, iteration, kCheckpointEnding);
  write_image(folder_.file(name), image);
  const std::vector<Entry> entries = list(folder_, prefix_);
  for (std::size_t k = kKept; k < entries.size(); ++k) remove(folder_, entries[k].name);
  last_ = std::chrono::steady_clock::now();
}

void write_image(const std::string& path, std::span<const std::byte> image) {
  io::write_file(path, {reinterpret_cast<const char*>(image.data()), image.size()});
}

std::optional<FoundCheckpoint> newest_checkpoint(const OutputFolder& folder, const std::string& prefix,
                                                 const Console& console) {
  for (const Entry& entry : list(folder, prefix)) {
    const std::string path = folder.file(entry.name);
    try {
      FoundCheckpoint found{.name = entry.name, .iteration = 0, .image = io::read_bytes(path)};
      found.iteration = open_checkpoint(found.bytes()).facts.iteration;
      return found;
    } catch (const BadState& error) {
      console.warning(fmt::format("{}: {}; the one before it is looked for", path, error.what()));
    } catch (const io::InputError& error) {
      console.warning(fmt::format("{}; the one before it is looked for", error.what()));
    }
  }
  return std::nullopt;
}

bool has_checkpoints(const OutputFolder& folder, const std::string& prefix) {
  return !list(folder, prefix).empty();
}

void remove_checkpoints(const OutputFolder& folder, const std::string& prefix) {
  for (const Entry& entry : list(folder, prefix)) remove(folder, entry.name);
}

}  // namespace adbo::app
