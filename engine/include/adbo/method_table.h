#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "adbo/option_table.h"
#include "adbo/options.h"

namespace adbo {

/// How a method and its workers keep time.
enum class Pace {
  kArrivals,     ///< goes on with the first S answers
  kAllArrivals,  ///< the same method with S = N
  kRounds,       ///< asks for evaluations and waits for everybody it asked
};

/// One row of the method table: what a method is called, where it comes from, and which options act on it.
/// The table is the single source of the option `method`, its validation, --help and the docs.
struct MethodInfo {
  Method method;
  std::string_view name;
  std::string_view sentence;
  std::string_view source;  ///< authors, year, algorithm
  Pace pace;
  /// Groups and single names of the option table that act on this method beside those that act on all.
  std::vector<std::string_view> options;
};

/// In the order of the enumeration; the first row is `auto`, whose options are those of what it stands for.
[[nodiscard]] std::span<const MethodInfo> method_table();
[[nodiscard]] const MethodInfo& method_info(Method method);
/// What a method stands for: another one for kAuto, itself otherwise.
[[nodiscard]] Method settled(Method method);
/// Whether the option changes anything in a run of the method, other options permitting.
[[nodiscard]] bool acts_on(const OptionInfo& option, Method method);

}  // namespace adbo
