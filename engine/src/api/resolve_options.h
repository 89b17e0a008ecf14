#pragma once

#include <cstddef>

#include "adbo/options.h"
#include "adbo/problem.h"

namespace adbo::detail {

/// Replaces every automatic value by the one a run on `problem` uses. Both must be valid.
[[nodiscard]] Options resolve_options(Options options, const Problem& problem);

/// Theorem 2's step sizes from L, k1, gamma, tau, N, M and the floors of c1 and c2 (docs/method.md).
void apply_theorem2_steps(Options& options, std::size_t num_workers);

}  // namespace adbo::detail
