#include "methods/stochastic/stochastic_master.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "protocol/start_values.h"
#include "protocol/vector_math.h"

namespace adbo::detail {
namespace {

constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

}  // namespace

StochasticMaster::StochasticMaster(const Problem& problem, const Options& options)
    : SynchronousMaster(problem),
      direction_(problem.upper_dim(), kNotMeasured),
      options_(options),
      steps_(options, StepCurvature::kMean),
      sampler_(problem, options.seed, options.batch_rows),
      point_{.upper = upper_start(problem), .lower = lower_start(problem)},
      next_(point_),
      lower_gradient_(problem.lower_dim()),
      upper_value_(kNotMeasured),
      lower_value_(kNotMeasured) {}

void StochasticMaster::fill(Snapshot& draft) {
  draft.upper_consensus = point_.upper;
  draft.lower_consensus = point_.lower;
}

MethodMaster::Outcome StochasticMaster::iterate(std::int64_t t) {
  next_.upper = point_.upper;
  next_.lower = point_.lower;
  if (!is_prepared_) {
    if (const std::optional<Ending> refusal = start()) return {.ending = refusal};
    is_prepared_ = true;
  }
  const std::optional<Ending> ending =
      advance({.upper = steps_.upper(t), .lower = steps_.lower(t), .adjoint = steps_.adjoint(t)});
  if (ending) return {.ending = ending};
  std::swap(point_, next_);
  return {};
}

/// The step sizes, and what else the method needs first.
std::optional<Ending> StochasticMaster::start() {
  steps_.settle(rounds(), upper(), lower());
  if (options_.step_lower == 0 && steps_.largest_eigenvalue() == 0) {
    return Ending{Termination::kSolveFailed,
                  "the lower Hessian vanishes at the start: step_lower has to be given"};
  }
  return prepare();
}

BatchDraws StochasticMaster::fresh_draws(std::uint64_t count) {
  const std::uint64_t first = draws_taken_;
  draws_taken_ += count;
  return {.upper = first, .lower = first};
}

void StochasticMaster::evaluate(const Wanted& wanted, std::span<const double> direction,
                                const BatchDraws& draws) {
  rounds().ask(wanted, {.upper = next_.upper, .lower = next_.lower, .direction = direction}, sampler_, draws);
  if (wanted.upper) upper_value_ = rounds().mean(&Evaluation::upper_value);
  if (wanted.lower) lower_value_ = rounds().mean(&Evaluation::lower_value);
}

void StochasticMaster::step_lower(double step, const BatchDraws& draws) {
  evaluate({.lower = true}, {}, draws);
  rounds().mean(&Evaluation::lower_gradient, lower_gradient_);
  add_scaled(-step, lower_gradient_, next_.lower);
}

void StochasticMaster::step_upper(double step) {
  const double longest = longest_move();
  for (std::size_t j = 0; j < direction_.size(); ++j) {
    next_.upper[j] += std::clamp(-step * direction_[j], -longest, longest);
  }
  rounds().problem().keep_within_bounds(next_.upper);
}

/// Of a coordinate of x in one step: infinite without a box.
double StochasticMaster::longest_move() {
  const Problem& problem = rounds().problem();
  return options_.move_limit > 0 ? options_.move_limit * (problem.upper_highest() - problem.upper_lowest())
                                 : std::numeric_limits<double>::infinity();
}

MethodMaster::Measurement StochasticMaster::stationarity_gap(Transport&) {
  return {.outcome = {}, .gap = squared_norm(direction_)};
}

void StochasticMaster::describe(TraceRecord& record) const {
  record.upper_objective = upper_value_;
  record.lower_objective = lower_value_;
  record.lower_distance = kNotMeasured;
}

}  // namespace adbo::detail
