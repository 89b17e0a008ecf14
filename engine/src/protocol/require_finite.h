#pragma once

#include <cmath>
#include <span>
#include <string>

#include "protocol/vector_math.h"
#include "protocol/worker.h"

namespace adbo::detail {

/// Throws NonFinite naming `what` and the value.
inline void require_finite(double value, const char* what) {
  if (!std::isfinite(value)) throw NonFinite(std::string(what) + " is " + std::to_string(value));
}

inline void require_finite(std::span<const double> values, const char* what) {
  if (!all_finite(values)) throw NonFinite(std::string(what) + " has an entry that is not finite");
}

/// An iterate that runs away is a divergence long before it overflows.
inline void require_bounded(std::span<const double> values, const char* what) {
  require_finite(values, what);
  if (!all_bounded(values)) throw NonFinite(std::string(what) + " is running away (an entry beyond 1e12)");
}

}  // namespace adbo::detail
