#include "settings/saved_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "support/exit_code.h"
#include "support/names.h"

namespace adbo::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;

constexpr std::array<std::string_view, 18> kOtherFree{"record",
                                                      "measure",
                                                      "evaluate_every",
                                                      "threads",
                                                      "executor",
                                                      "iterations",
                                                      "time_limit",
                                                      "worker_failure",
                                                      "worker_retries",
                                                      "worker_deadline",
                                                      "checkpoint_every",
                                                      "checkpoint_interval",
                                                      "quiet",
                                                      "verbose",
                                                      "json",
                                                      "require_converged",
                                                      "progress",
                                                      "out"};

template <class List>
bool contains(const List& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

Json layer_json(const std::vector<Assignment>& layer) {
  Json json = Json::array();
  for (const Assignment& entry : layer) {
    json.push_back({{"name", entry.name}, {"value", entry.value}, {"place", entry.place}});
  }
  return json;
}

std::vector<Assignment> layer_of(const Json& json) {
  std::vector<Assignment> layer;
  for (const Json& entry : json) {
    layer.push_back({entry.at("name").get<std::string>(), entry.at("value").get<std::string>(),
                     entry.at("place").get<std::string>()});
  }
  return layer;
}

ProblemKind problem_named(const std::string& name) {
  for (const ProblemKind kind : {ProblemKind::kClean, ProblemKind::kTune, ProblemKind::kQuadratic}) {
    if (to_string(kind) == name) return kind;
  }
  throw UsageError(fmt::format("problem = \"{}\"", name));
}

std::array<std::vector<Assignment>*, 3> layers(SettingSources& sources) {
  return {&sources.file, &sources.set, &sources.flags};
}

const SettingInfo* setting_of(const Assignment& entry) { return find_setting(entry.name); }

/// Paths that lead nowhere from here are meant from the folder that the run was started in. That a file is
/// the right one is for the checkpoint to say.
void find_data_files(SavedRun& run) {
  for (std::vector<Assignment>* layer : layers(run.sources)) {
    for (Assignment& entry : *layer) {
      const SettingInfo* const info = setting_of(entry);
      if (info == nullptr || !contains(kDataFileSettings, info->name)) continue;
      const fs::path meant = fs::path(run.working_folder) / entry.value;
      std::error_code ignored;
      if (!fs::exists(entry.value, ignored) && fs::exists(meant, ignored)) entry.value = meant.string();
    }
  }
}

constexpr std::array<std::string_view, 4> kSpeech{"quiet", "verbose", "json", "progress"};

/// How a command speaks is the command's, not the run's.
void forget_verbosity(SettingSources& sources) {
  for (std::vector<Assignment>* layer : layers(sources)) {
    std::erase_if(*layer, [](const Assignment& entry) {
      const SettingInfo* const info = setting_of(entry);
      return info != nullptr && contains(kSpeech, info->name);
    });
  }
}

void refuse_change(const Settings& settings, const SettingInfo& info, const Assignment& flag) {
  RunConfig changed = settings.config();
  const std::string problem = info.set(changed, flag.value);
  if (!problem.empty()) throw UsageError(fmt::format("{}: {}", flag.place, problem));
  const std::string then = info.get(settings.config()), now = info.get(changed);
  if (then == now) return;
  throw UsageError(
      fmt::format("{}: the run has {} = {}, not {}; a run goes on with the settings it was begun with",
                  flag.place, info.name, then, now));
}

/// The flag takes the place of what the run was told, in whichever source.
void replace(SettingSources& sources, const SettingInfo& info, const Assignment& flag) {
  for (std::vector<Assignment>* layer : layers(sources)) {
    std::erase_if(*layer, [&info](const Assignment& entry) { return setting_of(entry) == &info; });
  }
  sources.flags.push_back(flag);
}

void refuse_out(const SettingInfo& info) {
  if (info.name != "out") return;
  throw UsageError("--out has no effect for resume: the run's folder is that of its results");
}

Json comparison_json(const ComparisonRequest& request) {
  return {{"methods", request.methods}, {"repeat", request.repeat}, {"search", request.search}};
}
ComparisonRequest comparison_of(const Json& json) {
  return {.methods = json.at("methods").get<std::string>(),
          .repeat = json.at("repeat").get<std::int64_t>(),
          .search = json.at("search").get<std::int64_t>()};
}

}  // namespace

bool is_free_in_comparison(std::string_view name) {
  return contains(kDataFileSettings, name) || contains(kSpeech, name) || name == "out" ||
         name == "checkpoint_every" || name == "checkpoint_interval";
}

bool is_free_setting(std::string_view name) {
  return contains(kDataFileSettings, name) || contains(kOtherFree, name);
}

std::string saved_run_text(const SavedRun& run) {
  Json json;
  json["format"] = kFormat;
  json["problem"] = to_string(run.problem);
  json["working_folder"] = run.working_folder;
  json["file"] = layer_json(run.sources.file);
  json["set"] = layer_json(run.sources.set);
  json["flags"] = layer_json(run.sources.flags);
  if (run.comparison) json["comparison"] = comparison_json(*run.comparison);
  if (!run.identity.empty()) json["identity"] = run.identity;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

SavedRun read_saved_run(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  std::error_code ignored;
  if (!file && fs::exists(path, ignored)) throw UsageError(fmt::format("{}: cannot be read", path));
  if (!file) {
    throw UsageError(
        fmt::format("{}: cannot be read: this is not the folder of a run that can be gone on with", path));
  }
  try {
    const Json json = Json::parse(text.str());
    if (json.at("format").get<int>() != kFormat) {
      throw UsageError(
          fmt::format("format {}; this version reads format {}", json.at("format").dump(), kFormat));
    }
    SavedRun run;
    run.problem = problem_named(json.at("problem").get<std::string>());
    run.working_folder = json.at("working_folder").get<std::string>();
    run.sources = {layer_of(json.at("file")), layer_of(json.at("set")), layer_of(json.at("flags"))};
    if (json.contains("comparison")) run.comparison = comparison_of(json["comparison"]);
    if (json.contains("identity")) run.identity = json["identity"].get<Identity>();
    return run;
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", path, error.what()));
  } catch (const Json::exception&) {
    throw UsageError(fmt::format("{}: not as adbo writes it", path));
  }
}

Settings resumed_settings(SavedRun run, const std::vector<Assignment>& flags, const std::string& folder) {
  find_data_files(run);
  forget_verbosity(run.sources);
  const Settings as_begun = resolve_settings(run.problem, run.sources);
  for (const Assignment& flag : flags) {
    const SettingInfo* const info = setting_of(flag);
    if (info == nullptr) throw UsageError(fmt::format("{}: the run has its preset already", flag.place));
    if ((info->problems & as_begun.problem_mask()) == 0) {
      throw UsageError(
          fmt::format("{} has no effect for {}", flag.place, to_string(as_begun.task().problem)));
    }
    refuse_out(*info);
    const bool moves_recording = info->name == "clock" && !as_begun.task().replay.empty() &&
                                 std::string_view(flag.value).starts_with("replay:");
    if (is_free_setting(info->name) || moves_recording) {
      replace(run.sources, *info, flag);
    } else {
      refuse_change(as_begun, *info, flag);
    }
  }
  replace(run.sources, *find_setting("out"), {"out", folder, "resume"});
  return resolve_settings(run.problem, run.sources);
}

std::vector<ComparedMethod> resumed_comparison(SavedRun run, const std::vector<Assignment>& flags,
                                               const std::string& folder) {
  find_data_files(run);
  forget_verbosity(run.sources);
  for (const Assignment& flag : flags) {
    const SettingInfo* const info = setting_of(flag);
    if (info != nullptr) refuse_out(*info);
    const bool may_change =
        info != nullptr && !contains(kDataFileSettings, info->name) && is_free_in_comparison(info->name);
    if (!may_change) {
      throw UsageError(
          fmt::format("{}: a comparison goes on with the settings it was begun with", flag.place));
    }
    replace(run.sources, *info, flag);
  }
  replace(run.sources, *find_setting("out"), {"out", folder, "resume"});
  return resolve_comparison(*run.comparison, run.sources);
}

}  // namespace adbo::app
