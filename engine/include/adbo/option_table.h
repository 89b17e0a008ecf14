#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "adbo/options.h"
#include "adbo/problem.h"
#include "adbo/status.h"

namespace adbo {

/// One row of the option table: what an option is called, what it means, and which member of Options it is.
/// The table is the single source of the API's validation, the command line, configuration files, --help and
/// the docs.
struct OptionInfo {
  /// An enumeration seen as an index into `choices`.
  struct Choice {
    int (*get)(const Options&);
    void (*set)(Options&, int);
  };
  using Member = std::variant<std::int64_t Options::*, std::uint64_t Options::*, double Options::*,
                              std::string Options::*, Choice>;

  std::string_view name;   ///< as written in configuration files: snake_case; flags use hyphens
  std::string_view group;  ///< heading in --help and the docs
  Member member;
  double lowest = -std::numeric_limits<double>::infinity();  ///< inclusive, for numbers
  double highest = std::numeric_limits<double>::infinity();  ///< inclusive
  bool lowest_exclusive = false;
  std::string_view unit;                  ///< "" or for example "seconds"
  std::string_view symbol;                ///< the paper's symbol, or ""
  std::string_view sentence;              ///< one sentence
  std::vector<std::string_view> choices;  ///< for enumerations and for --help
  std::vector<std::string_view> aliases;  ///< the names that the authors' published code uses
};

[[nodiscard]] std::span<const OptionInfo> option_table();
/// By name or alias, hyphens and underscores alike; nullptr when there is none.
[[nodiscard]] const OptionInfo* find_option(std::string_view name);
/// The known name nearest to a misspelt one (edit distance), or "" when nothing is near.
[[nodiscard]] std::string_view nearest_option(std::string_view name);
/// Parses and sets one option; kInvalidOption names the option, the value, its type and range, and the
/// nearest name.
[[nodiscard]] Status set_option(Options& options, std::string_view name, std::string_view value);
/// The value as set_option would read it.
[[nodiscard]] std::string option_value(const Options& options, const OptionInfo& info);
/// "adbo", "async-hypergradient", ...: the value of the option `method`.
[[nodiscard]] std::string method_name(Method method);
/// Ranges of every option, and what they mean together: S <= N, stragglers <= N, ...
[[nodiscard]] Status validate_options(const Options& options, std::size_t num_workers);

/// A named set of option values: the published settings of one experiment.
struct Preset {
  std::string_view name;      ///< for example "paper/fashion-mnist"
  std::string_view task;      ///< "clean" or "tune"
  std::string_view sentence;  ///< what it reproduces and whose values it holds
  std::int64_t num_workers;
  /// (option name, value) of this table.
  std::vector<std::pair<std::string_view, std::string_view>> values;
  /// (name, value) of settings of the task itself, which the command interprets: scaling, corruption, start,
  /// ...
  std::vector<std::pair<std::string_view, std::string_view>> task_values;
};
[[nodiscard]] std::span<const Preset> presets();
[[nodiscard]] const Preset* find_preset(std::string_view name);

}  // namespace adbo
