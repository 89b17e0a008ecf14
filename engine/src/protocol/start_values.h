#pragma once

#include <cstddef>
#include <vector>

#include "adbo/problem.h"

namespace adbo::detail {

/// A start as it was given, or zeros where it was left out.
[[nodiscard]] inline std::vector<double> or_zeros(const std::vector<double>& start, std::size_t size) {
  return start.empty() ? std::vector<double>(size, 0.0) : start;
}

/// v at the start, [n]; the bounds are not looked at.
[[nodiscard]] inline std::vector<double> upper_start(const Problem& problem) {
  return or_zeros(problem.start().upper, problem.upper_dim());
}

/// z at the start, [m].
[[nodiscard]] inline std::vector<double> lower_start(const Problem& problem) {
  return or_zeros(problem.start().lower, problem.lower_dim());
}

}  // namespace adbo::detail
