#pragma once

#include "adbo/problem.h"

namespace adbo::detail {

/// Whether every coordinate of the upper variable belongs to one worker at most, as a weight per training row
/// does.
[[nodiscard]] inline bool owns_upper_coordinates(const Problem& problem) {
  std::size_t total = 0;
  for (std::size_t i = 0; i < problem.num_workers(); ++i) total += problem.support(i).size;
  return problem.num_workers() > 1 && total <= problem.upper_dim();
}

}  // namespace adbo::detail
