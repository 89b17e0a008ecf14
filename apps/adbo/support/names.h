#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace adbo::app {

/// The candidate nearest to a misspelt name (insertions, deletions, replacements, swapped neighbours; case,
/// hyphens and underscores aside), or "" when more than a third of the letters differ.
[[nodiscard]] std::string_view nearest_name(std::string_view name,
                                            std::span<const std::string_view> candidates);

/// "; did you mean "x"?" or nothing.
[[nodiscard]] std::string suggestion(std::string_view nearest);

/// "a, b, c".
[[nodiscard]] std::string joined(std::span<const std::string_view> words);

/// snake_case as it is written on the command line: max_staleness -> max-staleness.
[[nodiscard]] std::string hyphenated(std::string_view name);
/// The reverse.
[[nodiscard]] std::string underscored(std::string_view name);

}  // namespace adbo::app
