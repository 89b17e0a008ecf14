#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "adbo/summary.h"

namespace adbo::app {

/// What the held-out rows said of a run.
struct HeldOutFacts {
  std::int64_t delivered_iteration = -1;  ///< -1: no loss was finite
  double loss = 0;                        ///< there
  double loss_start = 0;
  bool gave_up = false;  ///< the run ended because `patience` said so
  void persist(StateArchive& archive) { archive(delivered_iteration, loss, loss_start, gave_up, refit); }

  /// A second run that was ended from outside, or by its own failure: what the first one chose is delivered.
  struct CutShort {
    std::int64_t iterations = 0;  ///< that it had done
    Termination termination = Termination::kNotRun;
    std::string why;  ///< for people
  };
  std::optional<CutShort> cut_short{};
  std::optional<Summary> refit{};  ///< of the run with all validation rows whose result is delivered, if any
};

}  // namespace adbo::app
