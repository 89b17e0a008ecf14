#include "execution/periodic_resolve.h"

#include <cmath>
#include <utility>

namespace adbo::app {

PeriodicResolve::PeriodicResolve(Problem problem, ResolveOptions options, TestScore test_score,
                                 std::int64_t every, std::int64_t iterations)
    : problem_(std::move(problem)),
      options_(options),
      test_score_(std::move(test_score)),
      every_(every),
      iterations_(iterations) {
  options_.threads = kObserverThreads;
}

std::optional<ResolvedMeasures> PeriodicResolve::at(std::int64_t iteration, std::span<const double> upper,
                                                    const std::function<bool()>& give_up) {
  if (iteration % every_ != 0 && iteration != iterations_) return std::nullopt;
  ResolveOptions options = options_;
  options.give_up = give_up;
  ValueFunction value = value_function(problem_, upper, lower_, options);
  ResolvedMeasures measures{.value_function = value.upper_objective, .test_accuracy = std::nullopt};
  if (!std::isfinite(value.upper_objective)) return measures;  // no solution to go on from
  if (test_score_) measures.test_accuracy = test_score_(value.lower).accuracy;
  lower_ = std::move(value.lower);
  return measures;
}

}  // namespace adbo::app
