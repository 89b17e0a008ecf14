#include "methods/stochastic/stochastic_master.h"

#include <cmath>
#include <limits>
#include <utility>

#include "methods/synchronous/step_sizes.h"
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
  const std::optional<Ending> ending = advance(steps_at(t));
  if (ending) return {.ending = ending};
  std::swap(point_, next_);
  return {};
}

/// The step sizes, and what else the method needs first.
std::optional<Ending> StochasticMaster::start() {
  rounds().problem().keep_within_bounds(next_.upper);
  steps_ = {.upper = options_.step_upper, .lower = options_.step_lower, .adjoint = options_.step_adjoint};
  if (steps_.lower == 0) {
    const double eigenvalue = largest_lower_eigenvalue(rounds(), upper(), lower(), options_.seed);
    if (!(eigenvalue > 0)) {
      return Ending{Termination::kSolveFailed,
                    "the lower Hessian vanishes at the start: step_lower has to be given"};
    }
    largest_eigenvalue_ = eigenvalue;
    steps_.lower = 1 / eigenvalue;
  }
  if (steps_.adjoint == 0) steps_.adjoint = steps_.lower;
  return prepare(steps_);
}

StochasticMaster::Steps StochasticMaster::steps_at(std::int64_t t) const {
  const double decay = std::pow(1 + static_cast<double>(t), -options_.step_decay);
  return {.upper = steps_.upper * decay, .lower = steps_.lower * decay, .adjoint = steps_.adjoint * decay};
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

void StochasticMaster::note_curvature(std::span<const double> direction, std::span<const double> product) {
  if (largest_eigenvalue_ == 0) return;
  const double direction_norm = std::sqrt(squared_norm(direction));
  const double seen = std::sqrt(squared_norm(product));
  if (!(seen > largest_eigenvalue_ * direction_norm) || direction_norm == 0) return;
  largest_eigenvalue_ = seen / direction_norm;
  steps_.lower = 1 / largest_eigenvalue_;
  if (options_.step_adjoint == 0) steps_.adjoint = steps_.lower;
}

void StochasticMaster::step_lower(double step, const BatchDraws& draws) {
  evaluate({.lower = true}, {}, draws);
  rounds().mean(&Evaluation::lower_gradient, lower_gradient_);
  add_scaled(-step, lower_gradient_, next_.lower);
}

void StochasticMaster::step_upper(double step) {
  add_scaled(-step, direction_, next_.upper);
  rounds().problem().keep_within_bounds(next_.upper);
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
