#include "settings/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "adbo/method_table.h"
#include "io/text.h"
#include "settings/effects.h"
#include "support/exit_code.h"
#include "support/names.h"

namespace adbo::app {
namespace {

/// What has to be the same for all methods if their times and results are to be compared.
constexpr std::array<std::string_view, 7> kSharedConditions{"method", "clock",    "delay",  "stragglers",
                                                            "seed",   "executor", "threads"};
/// What a comparison has one of, or none.
constexpr std::array<std::string_view, 2> kOfOneRun{"require_converged", "measure"};

bool contains(std::span<const std::string_view> list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

std::vector<std::string> split_names(std::string_view text) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    names.emplace_back(io::detail::trimmed(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return names;
}

const MethodInfo& find_method(std::string_view name, std::string_view place) {
  std::vector<std::string_view> known;
  for (const MethodInfo& info : method_table()) {
    if (info.name == name) return info;
    known.push_back(info.name);
  }
  throw UsageError(fmt::format("{}: there is no method \"{}\"{} (methods: {})", place, name,
                               suggestion(nearest_name(name, known)), joined(known)));
}

std::vector<const MethodInfo*> find_methods(std::string_view text) {
  if (text.empty()) throw UsageError("--methods is missing: name the methods to compare, as in adbo,sdbo");
  std::vector<const MethodInfo*> methods;
  for (const std::string& name : split_names(text)) {
    const MethodInfo& info = find_method(name, "--methods");
    for (const MethodInfo* const other : methods) {
      if (settled(other->method) != settled(info.method)) continue;
      throw UsageError(other == &info
                           ? fmt::format("--methods: {} is given twice", name)
                           : fmt::format("--methods: {} and {} are the same method", other->name, name));
    }
    methods.push_back(&info);
  }
  return methods;
}

/// "adbo.step_upper" for one method, "step_upper" for those it acts on.
struct Addressed {
  std::string_view method;  ///< empty: all
  Assignment assignment;
};

Addressed addressed(const Assignment& entry) {
  const std::size_t dot = entry.name.find('.');
  if (dot == std::string::npos) return {{}, entry};
  return {std::string_view(entry.name).substr(0, dot),
          {entry.name.substr(dot + 1), entry.value, fmt::format("{} {}", entry.place, entry.name)}};
}

bool acts_in_comparison(const OptionInfo& option, const MethodInfo& method) {
  if (!acts_on(option, method.method)) return false;
  return option.name != "active_workers" || method.pace != Pace::kAllArrivals;
}

class Comparison {
 public:
  Comparison(std::vector<const MethodInfo*> methods, const SettingSources& sources)
      : methods_(std::move(methods)) {
    for (const auto* layer : {&sources.file, &sources.set, &sources.flags}) {
      for (const Assignment& entry : *layer) check(addressed(entry));
    }
  }

  /// The part of the sources that is this method's.
  [[nodiscard]] static SettingSources sources_of(const MethodInfo& method, const SettingSources& all) {
    SettingSources own;
    own.file = layer_of(method, all.file);
    own.set = layer_of(method, all.set);
    own.flags = layer_of(method, all.flags);
    own.flags.push_back({"method", std::string(method.name), "--methods"});
    return own;
  }

 private:
  static const OptionInfo* engine_option(std::string_view name) {
    const SettingInfo* const info = find_setting(name);
    return info != nullptr && info->of_engine ? find_option(info->name) : nullptr;
  }

  void check(const Addressed& entry) const {
    if (entry.method.empty()) {
      check_plain(entry.assignment);
    } else {
      check_of_method(entry);
    }
  }

  void check_plain(const Assignment& entry) const {
    const OptionInfo* const option = engine_option(entry.name);
    const SettingInfo* const setting = find_setting(entry.name);
    if (setting != nullptr && contains(kOfOneRun, setting->name)) {
      throw UsageError(fmt::format("{}: {} has no effect for compare", entry.place, setting->name));
    }
    if (option == nullptr) return;  // a setting of the task, or unknown: resolve_settings() tells
    if (option->name == "method") {
      throw UsageError(fmt::format("{}: compare takes its methods from --methods", entry.place));
    }
    const bool acts = std::any_of(methods_.begin(), methods_.end(), [&](const MethodInfo* method) {
      return acts_in_comparison(*option, *method);
    });
    if (acts) return;
    std::vector<std::string_view> names;
    for (const MethodInfo* const method : methods_) names.push_back(method->name);
    throw UsageError(fmt::format("{}: {} has no effect on any of the methods compared ({})", entry.place,
                                 option->name, joined(names)));
  }

  void check_of_method(const Addressed& entry) const {
    const Assignment& given = entry.assignment;
    const MethodInfo& method = find_method(entry.method, given.place);
    if (std::find(methods_.begin(), methods_.end(), &method) == methods_.end()) {
      throw UsageError(fmt::format("{}: {} is not one of the methods compared", given.place, method.name));
    }
    const OptionInfo* const option = engine_option(given.name);
    if (option == nullptr) {
      const SettingInfo* const setting = find_setting(given.name);
      if (setting == nullptr) {
        throw UsageError(fmt::format("{}: there is no setting \"{}\"{}", given.place, given.name,
                                     suggestion(nearest_option(given.name))));
      }
      throw UsageError(
          fmt::format("{}: {} is the same for all methods of a comparison", given.place, setting->name));
    }
    if (contains(kSharedConditions, option->name)) {
      throw UsageError(
          fmt::format("{}: {} is the same for all methods of a comparison", given.place, option->name));
    }
    if (!acts_in_comparison(*option, method)) {
      throw UsageError(fmt::format("{}: {} has no effect on {}", given.place, option->name, method.name));
    }
  }

  static std::vector<Assignment> layer_of(const MethodInfo& method, const std::vector<Assignment>& layer) {
    std::vector<Assignment> plain, own;
    for (const Assignment& given : layer) {
      const Addressed entry = addressed(given);
      if (!entry.method.empty()) {
        if (entry.method == method.name) own.push_back(entry.assignment);
        continue;
      }
      const OptionInfo* const option = engine_option(given.name);
      if (option == nullptr || acts_in_comparison(*option, method)) plain.push_back(given);
    }
    std::erase_if(plain, [&own](const Assignment& entry) {
      return std::any_of(own.begin(), own.end(), [&entry](const Assignment& stronger) {
        return find_setting(stronger.name) == find_setting(entry.name);
      });
    });
    plain.insert(plain.end(), own.begin(), own.end());
    return plain;
  }

  std::vector<const MethodInfo*> methods_;
};

/// METHOD.option comes by --set alone; over a plain flag it wins all the same.
SettingSources without_overridden_flags(SettingSources sources) {
  std::erase_if(sources.flags, [&sources](const Assignment& flag) {
    const SettingInfo* const info = find_setting(flag.name);
    return info != nullptr && info->name != "method" &&
           std::any_of(sources.set.begin(), sources.set.end(), [info](const Assignment& entry) {
             return entry.place != "--set" && find_setting(entry.name) == info;
           });
  });
  return sources;
}

/// A comparison keeps no recordings.
void refuse_settings_of_single_runs(const Settings& settings) {
  if (settings.is_explicit("record")) throw UsageError("record has no effect for compare");
  if (!settings.task().replay.empty()) throw UsageError("clock = replay:FILE has no effect for compare");
}

}  // namespace

std::vector<ComparedMethod> resolve_comparison(const ComparisonRequest& request,
                                               const SettingSources& sources) {
  const std::vector<const MethodInfo*> methods = find_methods(request.methods);
  const Comparison comparison(methods, sources);
  std::vector<ComparedMethod> resolved;
  for (const MethodInfo* const method : methods) {
    const SettingSources own = without_overridden_flags(Comparison::sources_of(*method, sources));
    Settings settings = resolve_settings(std::nullopt, own);
    if (settings.task().problem == ProblemKind::kQuadratic) {
      throw UsageError("problem = \"quadratic\": compare is for clean and tune");
    }
    try {
      refuse_settings_without_effect(settings);
      refuse_settings_of_single_runs(settings);
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}: {}", method->name, error.what()));
    }
    resolved.push_back({std::string(method->name), std::move(settings)});
  }
  return resolved;
}

}  // namespace adbo::app
