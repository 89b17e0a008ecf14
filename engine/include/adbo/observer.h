#pragma once

#include <span>

#include "adbo/summary.h"

namespace adbo {

/// The state after a master iteration, valid during the call only.
struct IterationView {
  const TraceRecord& record;
  std::span<const double> upper;  ///< v, [n]
  std::span<const double> lower;  ///< z, [m]
};

enum class ObserverAction { kContinue, kStop, kAbort };

/// Called by the master thread between iterations (and once before the first, with iteration 0). The time it
/// takes is not counted as the run's. An exception thrown here ends the run and is rethrown by solve() after
/// an orderly stop.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual ObserverAction on_iteration(const IterationView& view) = 0;
};

}  // namespace adbo
