#pragma once

#include <cstdint>

namespace adbo::app {

/// What the held-out rows said of a run.
struct HeldOutFacts {
  std::int64_t delivered_iteration = -1;  ///< -1: no loss was finite
  double loss = 0;                        ///< there
  double loss_start = 0;
};

}  // namespace adbo::app
