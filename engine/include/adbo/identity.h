#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace adbo {

/// What a run is made of, as names and values.
using Identity = std::vector<std::pair<std::string, std::string>>;

/// Of the first name of `now` whose value was another `before`: "NAME: VALUE WHEN, VALUE now", with "absent"
/// where it was not there. Empty where there is none.
[[nodiscard]] std::string first_difference(const Identity& before, const Identity& now,
                                           std::string_view when);

}  // namespace adbo
