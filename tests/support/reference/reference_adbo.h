#pragma once
// method = adbo as docs/method.md states it, in one thread and in the plainest way: dense algebra, a list of
// answers under way for the virtual clock, no code of the engine. Slow on purpose; meant to be read beside
// that page.

#include <vector>

#include "adbo/options.h"
#include "support/reference/reference_lower.h"
#include "support/reference/reference_problem.h"

namespace adbo::reference {

/// The state after a master iteration, its polytope update included.
struct Iteration {
  Vector upper;                      ///< v, [n]
  Vector lower;                      ///< z, [m]
  std::vector<double> multipliers;   ///< lambda_l of the cuts alive, in order of birth
  Vector dual_sum;                   ///< sum_i theta_i, [n]; zeros where x_i is eliminated
  std::vector<std::size_t> active;   ///< the workers in Q, ascending
  std::int64_t longest_silence = 0;  ///< iterations since the most silent worker was last active
  double virtual_seconds = 0;
  double upper_objective = 0;   ///< (1/N) sum_i G_i, each at the last (x_i, y_i) that an accepted answer
                                ///< started from; NaN until everybody was heard
  double lower_objective = 0;   ///< (1/N) sum_i g_i(v, y'_i0) at the last polytope update; NaN before
  double lower_distance = 0;    ///< h at the last polytope update; NaN before
  double stationarity_gap = 0;  ///< ||grad G^t||^2 of Definition 1
};

/// What happened in total.
struct Totals {
  std::int64_t cuts_added = 0;
  std::int64_t cuts_dropped = 0;         ///< by the drop rule, and to make room
  std::int64_t cuts_evicted = 0;         ///< of these, to make room for a new one (M)
  std::int64_t updates_without_cut = 0;  ///< h <= epsilon
  std::int64_t overdue_waits = 0;        ///< iterations that took more answers than S
  double barrier_virtual_seconds = 0;
};

struct Run {
  std::vector<Iteration> iterations;
  Totals totals;
};

/// The first `iterations` master iterations under the virtual clock. Of the options, everything that
/// docs/method.md speaks of is followed; limits, threads and measurement intervals mean nothing here.
[[nodiscard]] Run run(const Problem& problem, const Options& options, std::int64_t iterations);

/// The step sizes that a run uses: those given, or those of Theorem 2.
struct Steps {
  double x = 0, y = 0, v = 0, z = 0, lambda = 0, theta = 0, phi = 0;
};
[[nodiscard]] Steps step_sizes(const Options& options, std::size_t num_workers);

}  // namespace adbo::reference
