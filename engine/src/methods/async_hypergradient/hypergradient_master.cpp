#include "methods/async_hypergradient/hypergradient_master.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "methods/running_estimates/contribution_form.h"
#include "methods/running_estimates/upper_ownership.h"
#include "protocol/count_work.h"
#include "protocol/start_values.h"
#include "protocol/vector_math.h"

namespace adbo::detail {
namespace {

constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

/// Coordinates that all workers share have scales of their own; coordinates that belong to one worker each (a
/// weight per row) are exchangeable, and their common scale keeps those that matter apart from those that do
/// not.
UpperScaling choose_scaling(const Problem& problem) {
  return owns_upper_coordinates(problem) ? UpperScaling::kCommon : UpperScaling::kPerCoordinate;
}

/// The rate is how far a coordinate moves per iteration at first: in its own units, or in those of the common
/// scale. Directions that are not late allow longer steps, and fewer of them.
UpperStepSettings step_settings(const Problem& problem, const Options& options) {
  UpperStepSettings settings{.scaling = choose_scaling(problem),
                             .rate = 0.2,
                             .lowest = problem.upper_lowest(),
                             .highest = problem.upper_highest()};
  if (settings.scaling == UpperScaling::kCommon) settings.rate = 0.1;
  if (contribution_form(problem) == ContributionForm::kAffine) {
    settings.rate = 0.3;
    settings.descent_moves = 100;
  }
  if (options.upper_rate > 0) settings.rate = options.upper_rate;
  return settings;
}

}  // namespace

HypergradientMaster::HypergradientMaster(const Problem& problem, const Options& options)
    : problem_(problem),
      estimates_(problem, contribution_form(problem)),
      damping_(problem, options),
      upper_step_(step_settings(problem, options), problem.upper_dim()),
      upper_(upper_start(problem)),
      averages_(owns_upper_coordinates(problem)),
      upper_objective_gradient_(problem.lower_dim()),
      direction_(problem.upper_dim()),
      upper_objective_(kNotMeasured),
      lower_objective_(kNotMeasured) {
  if (averages_) average_ = upper_;
}

void HypergradientMaster::fill(Snapshot& draft) {
  draft.upper_consensus = upper_;
  draft.lower_consensus = estimates_.lower();
  draft.lower_adjoint = estimates_.adjoint();
}

void HypergradientMaster::step(std::int64_t t, std::span<const std::size_t> active,
                               const WorkerStates& states) {
  estimates_.absorb(active, states);
  count(active, states);
  estimates_.mean(states, &UpdateMessage::upper_objective_gradient, upper_objective_gradient_);
  upper_objective_ = estimates_.mean(states, &UpdateMessage::upper_value);
  lower_objective_ = estimates_.mean(states, &UpdateMessage::lower_value);

  estimates_.sum(states, upper_, upper_objective_gradient_, damping_.at(estimates_));
  const EstimateLag lag{.lower = std::sqrt(squared_norm(estimates_.lower_residual())),
                        .adjoint = std::sqrt(squared_norm(estimates_.adjoint_residual())),
                        .mean_age = estimates_.mean_age(t)};
  estimates_.improve(t);
  estimates_.mean_on_supports(states, &UpdateMessage::upper_direction, direction_);
  estimates_.subtract_common_cross(upper_, direction_);
  gap_ = lag.lower * lag.lower + lag.adjoint * lag.adjoint + squared_norm(direction_);
  if (!estimates_.table_is_complete()) return;
  upper_step_.move(direction_, lag, upper_);
  if (averages_) update_average();
}

void HypergradientMaster::update_average() {
  ++steps_averaged_;
  const double share = 1 / static_cast<double>(steps_averaged_);
  for (std::size_t j = 0; j < upper_.size(); ++j) average_[j] += share * (upper_[j] - average_[j]);
}

void HypergradientMaster::count(std::span<const std::size_t> active, const WorkerStates& states) {
  for (const std::size_t i : active) {
    const UpdateMessage& update = states.state(i);
    add_work(counts_, update.work);
    // There: v on the support, y-hat, q; back: three vectors of the lower size, one of the support's, and
    // curvature.
    const std::size_t numbers = 5 * problem_.lower_dim() + 2 * problem_.support(i).size +
                                (update.has_curvature ? update.curvature.size() : 0);
    counts_.bytes += static_cast<std::int64_t>(sizeof(double) * numbers);
  }
  counts_.messages += static_cast<std::int64_t>(2 * active.size());
}

MethodMaster::Measurement HypergradientMaster::stationarity_gap(Transport&) {
  return {.outcome = {}, .gap = gap_};
}

void HypergradientMaster::describe(TraceRecord& record) const {
  record.upper_objective = upper_objective_;
  record.lower_objective = lower_objective_;
  record.lower_distance = kNotMeasured;
}

void HypergradientMaster::describe(Summary& summary) const { summary.counts = counts_; }

}  // namespace adbo::detail
