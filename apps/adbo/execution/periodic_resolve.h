#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "adbo/measures.h"
#include "adbo/problem.h"
#include "adbo/problems/hyper_cleaning.h"
#include "adbo/state_archive.h"

namespace adbo::app {

/// Accuracy and loss of the lower variable [m] on the test rows; empty when there are none.
using TestScore = std::function<ModelScore(std::span<const double>)>;

/// What an observer computes stays on its own thread: only that thread's time is kept out of the run's.
constexpr std::int64_t kObserverThreads = 1;

/// What the upper variable is worth: the value function, and the test accuracy of the model there.
struct ResolvedMeasures {
  double value_function = 0;  ///< NaN where the lower level has no solution
  std::optional<double> test_accuracy;
};

/// Re-solves the lower level at the upper variable every so many iterations, each time from the solution
/// before, on the calling thread alone.
class PeriodicResolve {
 public:
  /// `problem` is a copy of the run's own: its objectives may be computing while an observer looks. Due at
  /// the iterations 0, every, 2 every, ... and at `iterations`; every >= 1.
  PeriodicResolve(Problem problem, ResolveOptions options, TestScore test_score, std::int64_t every,
                  std::int64_t iterations);

  /// Nothing where the iteration is not due. GivenUp, as if it had not been asked, once `give_up` says so.
  std::optional<ResolvedMeasures> at(std::int64_t iteration, std::span<const double> upper,
                                     const std::function<bool()>& give_up);

  void persist(StateArchive& archive) { archive.sized(lower_); }

 private:
  Problem problem_;
  ResolveOptions options_;
  TestScore test_score_;
  std::int64_t every_, iterations_;
  std::vector<double> lower_;  ///< the last solution; empty before
};

}  // namespace adbo::app
