#include "methods/async_hypergradient/hypergradient_master.h"

#include <algorithm>
#include <limits>

#include "methods/running_estimates/contribution_form.h"
#include "methods/running_estimates/upper_ownership.h"
#include "methods/running_estimates/upper_step_settings.h"
#include "protocol/count_work.h"
#include "protocol/start_values.h"
#include "protocol/vector_math.h"

namespace adbo::detail {
namespace {

constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

}  // namespace

HypergradientMaster::HypergradientMaster(const Problem& problem, const Options& options)
    : problem_(problem),
      estimates_(problem, contribution_form(problem)),
      damping_(problem, options),
      upper_step_(upper_step_settings(problem, contribution_form(problem), options.upper_rate),
                  problem.upper_dim()),
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
  const EstimateLag lag = estimates_.lag(t);
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
