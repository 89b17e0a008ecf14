#include "methods/async_hypergradient/hypergradient_master.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "methods/async_hypergradient/upper_ownership.h"
#include "protocol/vector_math.h"

namespace adbo::detail {
namespace {

constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

std::vector<double> or_zeros(const std::vector<double>& start, std::size_t size) {
  return start.empty() ? std::vector<double>(size, 0.0) : start;
}

/// Coordinates that all workers share have scales of their own; coordinates that belong to one worker each (a
/// weight per row) are exchangeable, and their common scale keeps those that matter apart from those that do
/// not.
UpperScaling choose_scaling(const Problem& problem) {
  return owns_upper_coordinates(problem) ? UpperScaling::kCommon : UpperScaling::kPerCoordinate;
}

/// Twice the mean curvature where the upper variable has a coordinate per row and so can fit any noise of the
/// upper objective (docs/practical.md has the measurements); none where a few shared coordinates are to be
/// exact.
double automatic_damping(const Problem& problem) { return owns_upper_coordinates(problem) ? 2 : 0; }

}  // namespace

HypergradientMaster::HypergradientMaster(const Problem& problem, const Options& options)
    : problem_(problem),
      preconditioner_(problem,
                      options.adjoint_damping >= 0 ? options.adjoint_damping : automatic_damping(problem)),
      upper_step_({.scaling = choose_scaling(problem),
                   .rate = options.upper_rate,
                   .lowest = problem.upper_lowest(),
                   .highest = problem.upper_highest()},
                  problem.upper_dim()),
      upper_(or_zeros(problem.start().upper, problem.upper_dim())),
      lower_(or_zeros(problem.start().lower, problem.lower_dim())),
      adjoint_(problem.lower_dim()),
      upper_objective_gradient_(problem.lower_dim()),
      lower_gradient_(problem.lower_dim()),
      adjoint_residual_(problem.lower_dim()),
      direction_(problem.upper_dim()),
      table_iteration_(problem.num_workers(), -1),
      upper_objective_(kNotMeasured),
      lower_objective_(kNotMeasured) {}

void HypergradientMaster::fill(Snapshot& draft) {
  draft.upper_consensus = upper_;
  draft.lower_consensus = lower_;
  draft.lower_adjoint = adjoint_;
}

void HypergradientMaster::step(std::int64_t t, std::span<const std::size_t> active,
                               const WorkerStates& states) {
  absorb(active, states);
  sum_table(states);
  preconditioner_.see_product(adjoint_, adjoint_residual_);
  preconditioner_.refresh();

  // (H + damping I) q = grad_y G: the damping filters what a few validation rows say by chance along
  // directions of low curvature, where H^-1 would magnify it most.
  add_scaled(preconditioner_.damping(), adjoint_, adjoint_residual_);
  add_scaled(-1.0, upper_objective_gradient_, adjoint_residual_);
  const EstimateLag lag{.lower = std::sqrt(squared_norm(lower_gradient_)),
                        .adjoint = std::sqrt(squared_norm(adjoint_residual_)),
                        .mean_age = mean_age(t)};
  gap_ = squared_norm(lower_gradient_) + squared_norm(adjoint_residual_) + squared_norm(direction_);

  // Both estimates take a preconditioned step on the table's mean. A contribution that is k iterations old
  // makes the step act k iterations late; 1 / (1 + mean age) keeps that stable, and is Newton's own step when
  // nothing is late.
  const double caution = 1 / (1 + lag.mean_age);
  preconditioner_.solve_damped(adjoint_residual_);
  add_scaled(-caution, adjoint_residual_, adjoint_);
  if (preconditioner_.is_known()) {
    preconditioner_.solve(lower_gradient_);
    add_scaled(-caution, lower_gradient_, lower_);
  }
  if (!table_is_complete()) return;
  upper_step_.move(direction_, lag, upper_);
}

void HypergradientMaster::absorb(std::span<const std::size_t> active, const WorkerStates& states) {
  for (const std::size_t i : active) {
    const UpdateMessage& update = states.state(i);
    if (table_iteration_[i] < 0) ++heard_;
    table_iteration_[i] = update.iteration;
    if (update.has_curvature) preconditioner_.set_block(i, update.curvature);
    counts_.upper_gradients += update.work.upper_gradients;
    counts_.lower_gradients += update.work.lower_gradients;
    counts_.hessian_products += update.work.hessian_products;
    counts_.cross_products += update.work.cross_products;
    // There: v on the support, y-hat, q; back: three vectors of the lower size, one of the support's, and
    // curvature.
    const std::size_t numbers = 5 * problem_.lower_dim() + 2 * problem_.support(i).size +
                                (update.has_curvature ? update.curvature.size() : 0);
    counts_.bytes += static_cast<std::int64_t>(sizeof(double) * numbers);
  }
  counts_.messages += static_cast<std::int64_t>(2 * active.size());
}

/// The means over the workers heard of. Summed afresh in worker order: no drift, and the same bits every
/// time.
void HypergradientMaster::sum_table(const WorkerStates& states) {
  std::fill(upper_objective_gradient_.begin(), upper_objective_gradient_.end(), 0.0);
  std::fill(lower_gradient_.begin(), lower_gradient_.end(), 0.0);
  std::fill(adjoint_residual_.begin(), adjoint_residual_.end(), 0.0);
  std::fill(direction_.begin(), direction_.end(), 0.0);
  upper_objective_ = lower_objective_ = 0;
  const double share = 1 / static_cast<double>(heard_);
  for (std::size_t i = 0; i < table_iteration_.size(); ++i) {
    if (table_iteration_[i] < 0) continue;
    const UpdateMessage& row = states.state(i);
    add_scaled(share, row.upper_objective_gradient, upper_objective_gradient_);
    add_scaled(share, row.lower_gradient, lower_gradient_);
    add_scaled(share, row.hessian_product, adjoint_residual_);
    const UpperSupport& support = problem_.support(i);
    add_scaled(share, row.upper_direction, std::span(direction_).subspan(support.begin, support.size));
    upper_objective_ += share * row.upper_value;
    lower_objective_ += share * row.lower_value;
  }
}

double HypergradientMaster::mean_age(std::int64_t t) const {
  double sum = 0;
  for (const std::int64_t iteration : table_iteration_) {
    if (iteration >= 0) sum += static_cast<double>(t - iteration);
  }
  return sum / static_cast<double>(heard_);
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
