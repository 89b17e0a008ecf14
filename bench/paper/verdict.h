#pragma once

#include <string>
#include <vector>

#include "command_run.h"
#include "figures.h"

namespace adbo::bench {

/// One method's traces, one per repeat.
struct MethodTraces {
  std::string method;
  std::vector<std::vector<TraceRow>> repeats;
};

/// Times of all methods to one level of the test loss, medians over the repeats. NaN: never.
struct LevelTimes {
  double part = 0;   ///< of the way from the first loss to the lowest that any method came to
  double level = 0;  ///< the loss, mean over the repeats
  std::vector<double> times;
};

/// At a half, three quarters and nine tenths of the way.
[[nodiscard]] std::vector<LevelTimes> times_to_levels(const std::vector<MethodTraces>& methods,
                                                      const std::string& clock);

/// "holds", "does not hold", or at which levels it holds. Before is strictly before; methods that never
/// arrive come last, and two of them are no order.
[[nodiscard]] std::string verdict(const std::vector<LevelTimes>& levels, Claim claim);

}  // namespace adbo::bench
