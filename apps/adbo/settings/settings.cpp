#include "settings/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <system_error>

#include "adbo/method_table.h"
#include "support/exit_code.h"
#include "support/names.h"

namespace adbo::app {
namespace {

constexpr std::string_view kPresetKey = "preset";
constexpr std::string_view kProblemKey = "problem";

bool is_special(std::string_view name) { return name == kPresetKey || name == kProblemKey; }

/// The strongest source that gives a special key, or nullptr.
const Assignment* find_special(const SettingSources& sources, std::string_view key) {
  for (const auto* layer : {&sources.flags, &sources.set, &sources.file}) {
    const auto found = std::find_if(layer->begin(), layer->end(), [key](const Assignment& entry) {
      return underscored(entry.name) == key;
    });
    if (found != layer->end()) return &*found;
  }
  return nullptr;
}

ProblemKind problem_of(const Assignment* given) {
  constexpr std::array kinds{ProblemKind::kClean, ProblemKind::kTune, ProblemKind::kQuadratic};
  if (given == nullptr) {
    throw UsageError(
        "no problem is named: give --problem clean (or tune) to compare, write problem = \"clean\", \"tune\" "
        "or "
        "\"quadratic\" in the file, or --set problem=clean");
  }
  for (const ProblemKind kind : kinds) {
    if (to_string(kind) == given->value) return kind;
  }
  throw UsageError(fmt::format("{}: problem = \"{}\": expected one of clean, tune, quadratic", given->place,
                               given->value));
}

void refuse_problem_change(std::optional<ProblemKind> problem, const Assignment* given) {
  if (!problem || given == nullptr || given->value == to_string(*problem)) return;
  throw UsageError(fmt::format("{}: problem = \"{}\", but the command is {}", given->place, given->value,
                               to_string(*problem)));
}

[[noreturn]] void refuse_unknown(const Assignment& entry, ProblemMask problems) {
  const std::string name = underscored(entry.name);
  if (name == "methods" || name == "repeat") {
    throw UsageError(
        fmt::format("{}: {} is no setting of a run: it is given to compare on its command line (--{})",
                    entry.place, name, name));
  }
  constexpr std::array others{kPresetKey, kProblemKey};
  throw UsageError(fmt::format("{}: there is no setting \"{}\"{}", entry.place, entry.name,
                               suggestion(nearest_setting(entry.name, problems, others))));
}

[[noreturn]] void refuse_preset(std::string_view name, const std::string& place) {
  std::vector<std::string_view> names;
  for (const Preset& preset : presets()) names.push_back(preset.name);
  throw UsageError(fmt::format("{}: there is no preset \"{}\"{} (presets: {})", place, name,
                               suggestion(nearest_name(name, names)), joined(names)));
}

/// Digits, but more of them than a number of 64 bits has: what the lower bound alone does not tell.
bool is_beyond_64_bits(std::string_view value) {
  std::uint64_t number = 0;
  if (value.starts_with('-')) value.remove_prefix(1);
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool is_signed_too_large = error == std::errc{} && number > std::numeric_limits<std::int64_t>::max();
  return end == value.data() + value.size() &&
         (is_signed_too_large || error == std::errc::result_out_of_range);
}

}  // namespace

std::string_view to_string(Origin origin) {
  switch (origin) {
    case Origin::kDefault:
      return "default";
    case Origin::kPreset:
      return "preset";
    case Origin::kFile:
      return "file";
    case Origin::kSet:
      return "set";
    case Origin::kFlag:
      return "flag";
    case Origin::kSearch:
      return "search";
  }
  return "?";
}

Origin Settings::origin(std::string_view name) const {
  const auto found = sources_.find(name);
  return found == sources_.end() ? Origin::kDefault : found->second.origin;
}

std::string_view Settings::place(std::string_view name) const {
  const auto found = sources_.find(name);
  return found == sources_.end() ? std::string_view() : found->second.place;
}

void Settings::apply(const SettingInfo& info, const std::string& value, const std::string& place,
                     Origin origin) {
  const std::string problem = info.set(config_, value);
  if (!problem.empty()) {
    const bool is_too_long = info.kind == ValueKind::kInteger && is_beyond_64_bits(value);
    throw UsageError(
        fmt::format("{}: {}{}", place, problem, is_too_long ? " that a number of 64 bits can be" : ""));
  }
  sources_.insert_or_assign(std::string(info.name), Source{origin, place});
}

void Settings::set_searched(std::string_view name, double value) {
  // Seventeen digits are the same number again.
  apply(*find_setting(name), fmt::format("{:.17g}", value), "--search", Origin::kSearch);
}

void Settings::apply_preset(std::string_view name, const std::string& place) {
  const Preset* const preset = find_preset(name);
  if (preset == nullptr) refuse_preset(name, place);
  const std::string_view problem = to_string(config_.task.problem);
  if (preset->task != problem) {
    throw UsageError(
        fmt::format("{}: preset \"{}\" is for {}, not for {}", place, name, preset->task, problem));
  }
  preset_ = name;
  const std::string source = fmt::format("preset {}", name);
  for (const auto* values : {&preset->values, &preset->task_values}) {
    for (const auto& [key, value] : *values) {
      const SettingInfo* const info = find_setting(key);
      if (info == nullptr) refuse_unknown({std::string(key), std::string(value), source}, problem_mask());
      apply(*info, std::string(value), source, Origin::kPreset);
    }
  }
  apply(*find_setting("workers"), std::to_string(preset->num_workers), source, Origin::kPreset);
}

void Settings::apply_layer(const std::vector<Assignment>& layer, Origin origin) {
  std::map<std::string_view, const Assignment*> given;
  for (const Assignment& entry : layer) {
    if (is_special(underscored(entry.name))) continue;
    const SettingInfo* const info = find_setting(entry.name);
    if (info == nullptr) refuse_unknown(entry, problem_mask());
    if ((info->problems & problem_mask()) == 0) {
      throw UsageError(fmt::format("{}: {} has no effect for {}", entry.place, info->name,
                                   to_string(config_.task.problem)));
    }
    const auto [first, is_new] = given.emplace(info->name, &entry);
    if (!is_new) {
      throw UsageError(
          fmt::format("{}: {} was already given at {}", entry.place, info->name, first->second->place));
    }
    apply(*info, entry.value, entry.place, origin);
  }
}

Settings resolve_settings(std::optional<ProblemKind> problem, const SettingSources& sources) {
  Settings settings;
  const Assignment* const named_problem = find_special(sources, kProblemKey);
  refuse_problem_change(problem, named_problem);
  settings.config_.task.problem = problem ? *problem : problem_of(named_problem);
  // The reference of tune is the minimum over all validation rows: holding rows out is for the user to ask
  // for.
  if (settings.config_.task.problem == ProblemKind::kTune) settings.config_.task.holdout = 0;
  if (const Assignment* const preset = find_special(sources, kPresetKey)) {
    settings.apply_preset(preset->value, preset->place);
  }
  settings.apply_layer(sources.file, Origin::kFile);
  settings.apply_layer(sources.set, Origin::kSet);
  settings.apply_layer(sources.flags, Origin::kFlag);
  // A preset's S is that of the method it was made for: one that waits for everybody has no use for it.
  if (!settings.is_explicit("active_workers") &&
      method_info(settings.config_.options.method).pace != Pace::kArrivals) {
    settings.config_.options.active_workers = 0;
  }
  return settings;
}

}  // namespace adbo::app
