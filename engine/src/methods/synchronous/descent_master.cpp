#include "methods/synchronous/descent_master.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "protocol/start_values.h"
#include "protocol/vector_math.h"

namespace adbo::detail {
namespace {

constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

}  // namespace

void LowerDescent::run(std::span<const double> upper, double step, std::int64_t count,
                       std::span<double> lower) {
  for (std::int64_t k = 0; k < count; ++k) {
    rounds_.ask({.lower = true}, {.upper = upper, .lower = lower});
    rounds_.mean(&Evaluation::lower_gradient, gradient_);
    add_scaled(-step, gradient_, lower);
  }
}

DescentMaster::DescentMaster(const Problem& problem, const Options& options, StepCurvature curvature)
    : SynchronousMaster(problem),
      options_(options),
      steps_(options, curvature),
      point_(problem),
      trial_(problem) {
  point_.upper = upper_start(problem);
  point_.lower = lower_start(problem);
}

void DescentMaster::fill(Snapshot& draft) {
  draft.upper_consensus = point_.upper;
  draft.lower_consensus = point_.lower;
}

MethodMaster::Outcome DescentMaster::iterate(std::int64_t t) {
  steps_.settle(rounds(), point_.upper, point_.lower);
  trial_ = point_;
  if (const SolveFailure failure = estimate(t, trial_)) {
    return {.ending =
                Ending{Termination::kSolveFailed, "iteration " + std::to_string(t + 1) + ": " + *failure}};
  }
  std::swap(point_, trial_);
  gap_ = projected_squared_norm();
  has_gradient_ = true;
  add_scaled(-steps_.upper(t), point_.gradient, point_.upper);
  rounds().problem().keep_within_bounds(point_.upper);
  return {};
}

double DescentMaster::projected_squared_norm() const {
  const Problem& problem = rounds().problem();
  double sum = 0;
  for (std::size_t j = 0; j < point_.upper.size(); ++j) {
    const double moved =
        std::clamp(point_.upper[j] - point_.gradient[j], problem.upper_lowest(), problem.upper_highest());
    sum += (point_.upper[j] - moved) * (point_.upper[j] - moved);
  }
  return sum;
}

MethodMaster::Measurement DescentMaster::stationarity_gap(Transport&) {
  return {.outcome = {}, .gap = has_gradient_ ? gap_ : kNotMeasured};
}

void DescentMaster::describe(TraceRecord& record) const {
  record.upper_objective = has_gradient_ ? point_.value : kNotMeasured;
  record.lower_objective = has_gradient_ ? point_.lower_value : kNotMeasured;
  record.lower_distance = kNotMeasured;
}

void DescentMaster::describe(Summary& summary) const {
  SynchronousMaster::describe(summary);
  summary.adjoint_residual = adjoint_residual_;
}

}  // namespace adbo::detail
