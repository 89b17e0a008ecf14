#pragma once
// Which settings every method of a comparison runs with.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "settings/settings.h"

namespace adbo::app {

/// What `adbo compare` is told beside settings.
struct ComparisonRequest {
  std::string methods;  ///< names of the method table, with commas between them
  std::int64_t repeat = 3;
  std::int64_t search = 0;  ///< settings of the steps that every method may try; 0: no search
};

struct ComparedMethod {
  std::string name;  ///< as the user wrote it
  Settings settings;
};

/// The methods in the order given, each with the settings that act on it:
/// - a plain option goes to the methods it acts on, and has to act on one of them;
/// - METHOD.option=value (--set) goes to that method alone, over a plain one; it has to act on it, and cannot
///   be one of the conditions that all methods share (clock, delays, stragglers, threads, executor, seed).
/// active_workers does not go to methods that wait for everybody. Beyond that each method's settings are
/// held to the rules of refuse_settings_without_effect(). UsageError for what is refused, for an unknown
/// method (with the nearest), a method that is given twice, and a problem that cannot be compared.
[[nodiscard]] std::vector<ComparedMethod> resolve_comparison(const ComparisonRequest& request,
                                                             const SettingSources& sources);

}  // namespace adbo::app
