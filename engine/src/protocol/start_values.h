#pragma once

#include <cstddef>
#include <vector>

#include "adbo/problem.h"

namespace adbo::detail {

/// A start as it was given, or zeros where it was left out.
[[nodiscard]] inline std::vector<double> or_zeros(const std::vector<double>& start, std::size_t size) {
  return start.empty() ? std::vector<double>(size, 0.0) : start;
}

/// v at the start, [n]: what was given, moved into the bounds where it lies outside, so that a run that ends
/// before its first step does too.
[[nodiscard]] inline std::vector<double> upper_start(const Problem& problem) {
  std::vector<double> start = or_zeros(problem.start().upper, problem.upper_dim());
  problem.keep_within_bounds(start);
  return start;
}

/// z at the start, [m].
[[nodiscard]] inline std::vector<double> lower_start(const Problem& problem) {
  return or_zeros(problem.start().lower, problem.lower_dim());
}

}  // namespace adbo::detail
