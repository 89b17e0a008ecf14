#pragma once
// One table of everything a command can be told: the engine's option table and the command's own settings.
// The command line, configuration files, presets, summary.json and `adbo info` all read it.

#include <array>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "adbo/option_table.h"
#include "settings/task_settings.h"

namespace adbo::app {

struct RunConfig {
  Options options;
  TaskSettings task;
};

enum class ValueKind { kInteger, kNumber, kText, kChoice, kFlag };

/// The problems that a setting has an effect on, one bit each.
using ProblemMask = unsigned;
constexpr ProblemMask mask_of(ProblemKind kind) { return 1U << static_cast<unsigned>(kind); }
constexpr ProblemMask kDataProblems = mask_of(ProblemKind::kClean) | mask_of(ProblemKind::kTune);
constexpr ProblemMask kAllProblems = kDataProblems | mask_of(ProblemKind::kQuadratic);

struct SettingInfo {
  std::string_view name;  ///< snake_case; the flag is --name with hyphens
  std::string_view group;
  ValueKind kind = ValueKind::kText;
  ProblemMask problems = kAllProblems;
  bool of_engine = false;
  std::string expectation;  ///< "an integer >= 1 (iterations)"
  std::string_view symbol;  ///< the paper's, or ""
  std::string_view sentence;
  std::vector<std::string_view> aliases;
  /// Sets the value from text; returns what is wrong with it, or "".
  std::function<std::string(RunConfig&, std::string_view)> set;
  std::function<std::string(const RunConfig&)> get;
};

[[nodiscard]] std::span<const SettingInfo> setting_table();
/// The settings that name files of data.
inline constexpr std::array<std::string_view, 6> kDataFileSettings{
    "train", "train_labels", "validation", "validation_labels", "test", "test_labels"};
/// By name or alias, hyphens and underscores alike; nullptr when there is none.
[[nodiscard]] const SettingInfo* find_setting(std::string_view name);
/// The name or alias nearest to a misspelt one among the settings of `problems` and `others`, or "".
[[nodiscard]] std::string_view nearest_setting(std::string_view name, ProblemMask problems,
                                               std::span<const std::string_view> others);

/// "clean", "tune", "quadratic".
[[nodiscard]] std::string_view to_string(ProblemKind kind);

}  // namespace adbo::app
