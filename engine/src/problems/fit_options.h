#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "adbo/kernels/fit.h"
#include "adbo/measures.h"

namespace adbo::detail {

inline kernels::FitOptions fit_options(const ResolveOptions& options) {
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  kernels::FitOptions result;
  result.gradient_tolerance = options.gradient_tolerance;
  result.max_evaluations = static_cast<int>(std::clamp<std::int64_t>(options.max_evaluations, 1, kMost));
  return result;
}

/// Before an evaluation.
inline void throw_if_given_up(const ResolveOptions& options) {
  if (options.give_up && options.give_up()) throw GivenUp();
}

}  // namespace adbo::detail
