#pragma once

#include <span>

#include "methods/synchronous/rounds.h"

namespace adbo::detail {

/// L of the lower level: the largest eigenvalue of d2 g/dy dy at (x, y), g = (1/N) sum_i g_i, by power
/// iterations whose products are rounds and are counted. Within 1 % of L for all but contrived spectra, from
/// below; 0 where the Hessian vanishes. May throw RoundEnded.
[[nodiscard]] double largest_lower_eigenvalue(Rounds& rounds, std::span<const double> upper,
                                              std::span<const double> lower);

}  // namespace adbo::detail
