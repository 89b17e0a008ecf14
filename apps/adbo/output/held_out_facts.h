#pragma once

#include <cstdint>
#include <optional>

#include "adbo/summary.h"

namespace adbo::app {

/// What the held-out rows said of a run.
struct HeldOutFacts {
  std::int64_t delivered_iteration = -1;  ///< -1: no loss was finite
  double loss = 0;                        ///< there
  double loss_start = 0;
  void persist(StateArchive& archive) { archive(delivered_iteration, loss, loss_start, refit); }

  std::optional<Summary> refit{};  ///< of the run with all validation rows whose result is delivered, if any
};

}  // namespace adbo::app
