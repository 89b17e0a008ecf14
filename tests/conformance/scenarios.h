#pragma once
// The settings under which the engine is compared with the reference and with itself.

#include <functional>
#include <string>
#include <vector>

#include "adbo/options.h"
#include "instances.h"

namespace adbo::conformance {

/// What must really have happened in a run for the comparison to mean anything.
struct Happened {
  bool cuts_dropped = false;         ///< by the drop rule
  bool cuts_evicted = false;         ///< to make room: M was reached
  bool overdue_waits = false;        ///< an iteration took more than S answers because of tau
  bool updates_without_cut = false;  ///< an update found h <= epsilon
  bool bounds_met = false;           ///< some coordinate of v reached a bound of the problem
};

struct Scenario {
  std::string name;
  std::function<Instance()> instance;
  Options options;
  Happened happened;
};

inline constexpr std::int64_t kIterations = 200;

[[nodiscard]] const std::vector<Scenario>& scenarios();

}  // namespace adbo::conformance
