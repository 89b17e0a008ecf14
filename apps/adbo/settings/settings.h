#pragma once
// The settings of a run and where each value came from.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "settings/setting_table.h"

namespace adbo::app {

/// From the weakest to the strongest.
enum class Origin { kDefault, kPreset, kFile, kSet, kFlag, kSearch };
/// "default", "preset", "file", "set", "flag", "search": the words of summary.json.
[[nodiscard]] std::string_view to_string(Origin origin);

/// One name with its value as the user wrote them, and the place, for messages ("run.toml:3:1",
/// "--max-staleness").
struct Assignment {
  std::string name;
  std::string value;
  std::string place;
};

/// What the user gave, source by source.
struct SettingSources {
  std::vector<Assignment> file{};   ///< of a configuration file; `preset` and `problem` are keys like others
  std::vector<Assignment> set{};    ///< --set key=value
  std::vector<Assignment> flags{};  ///< --preset among them
};

class Settings {
 public:
  [[nodiscard]] const RunConfig& config() const { return config_; }
  [[nodiscard]] const Options& options() const { return config_.options; }
  [[nodiscard]] const TaskSettings& task() const { return config_.task; }
  [[nodiscard]] Origin origin(std::string_view name) const;
  /// Where the value was given, as in Assignment; empty: nowhere.
  [[nodiscard]] std::string_view place(std::string_view name) const;
  /// Given by flag, --set or file rather than by a preset or default.
  [[nodiscard]] bool is_explicit(std::string_view name) const { return origin(name) >= Origin::kFile; }
  [[nodiscard]] const std::string& preset() const { return preset_; }
  [[nodiscard]] ProblemMask problem_mask() const { return mask_of(config_.task.problem); }

  /// Replaces a default that depends on the data; the origin stays "default".
  void set_default_workers(std::int64_t workers) { config_.task.workers = workers; }
  /// Of a repeat; the origin stays that of the first one's.
  void set_seed(std::uint64_t seed) { config_.options.seed = seed; }
  /// A number that a search over step sizes chose or tries.
  void set_searched(std::string_view name, double value);

 private:
  friend Settings resolve_settings(std::optional<ProblemKind>, const SettingSources&);
  void apply_preset(std::string_view name, const std::string& place);
  void apply_layer(const std::vector<Assignment>& layer, Origin origin);
  void apply(const SettingInfo& info, const std::string& value, const std::string& place, Origin origin);

  struct Source {
    Origin origin = Origin::kDefault;
    std::string place;
  };

  RunConfig config_;
  std::map<std::string, Source, std::less<>> sources_;
  std::string preset_;
};

/// Flag > --set > file > preset > default. Without a `problem` the file or --set has to name it.
/// UsageError for an unknown name (with the nearest), a value out of range, a name given twice in one source,
/// a setting without effect for the problem, and a preset of another problem.
[[nodiscard]] Settings resolve_settings(std::optional<ProblemKind> problem, const SettingSources& sources);

}  // namespace adbo::app
