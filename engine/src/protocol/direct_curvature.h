#pragma once

#include <cstddef>

#include "adbo/problem.h"

namespace adbo::detail {

/// m, where every worker gives the whole lower Hessian (b = m) and it is small enough to be factored at every
/// step; otherwise 0.
[[nodiscard]] inline std::size_t direct_curvature_size(const Problem& problem) {
  constexpr std::size_t kLargest = 512;
  if (problem.lower_dim() > kLargest) return 0;
  for (std::size_t i = 0; i < problem.num_workers(); ++i) {
    if (problem.worker(i).lower_curvature_size() != problem.lower_dim()) return 0;
  }
  return problem.lower_dim();
}

}  // namespace adbo::detail
