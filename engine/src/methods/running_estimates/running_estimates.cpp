#include "methods/running_estimates/running_estimates.h"

#include <algorithm>

#include "protocol/start_values.h"
#include "protocol/vector_math.h"

namespace adbo::detail {

RunningEstimates::RunningEstimates(const Problem& problem)
    : problem_(problem),
      preconditioner_(make_preconditioner(problem)),
      lower_(lower_start(problem)),
      adjoint_(problem.lower_dim()),
      lower_residual_(problem.lower_dim()),
      adjoint_residual_(problem.lower_dim()),
      table_iteration_(problem.num_workers(), -1) {}

void RunningEstimates::absorb(std::span<const std::size_t> active, const WorkerStates& states) {
  for (const std::size_t i : active) {
    const UpdateMessage& update = states.state(i);
    if (table_iteration_[i] < 0) ++heard_;
    table_iteration_[i] = update.iteration;
    if (update.has_curvature) preconditioner_->set_curvature(i, update.curvature);
  }
}

void RunningEstimates::drop(std::size_t worker) {
  if (table_iteration_[worker] >= 0) --heard_;
  table_iteration_[worker] = -1;
  ++dropped_;
  preconditioner_->drop(worker);
}

void RunningEstimates::sum(const WorkerStates& states, std::span<const double> right_hand_side,
                           double damping) {
  mean(states, &UpdateMessage::lower_gradient, lower_residual_);
  mean(states, &UpdateMessage::hessian_product, adjoint_residual_);
  preconditioner_->see_product(adjoint_, adjoint_residual_);
  preconditioner_->refresh(damping);
  add_scaled(damping, adjoint_, adjoint_residual_);
  add_scaled(-1.0, right_hand_side, adjoint_residual_);
}

/// A contribution that is k iterations old makes the step act k iterations late; 1 / (1 + mean age) keeps
/// that stable, and is Newton's own step when nothing is late.
void RunningEstimates::improve(std::int64_t t) {
  const double caution = 1 / (1 + mean_age(t));
  preconditioner_->solve_damped(adjoint_residual_);
  add_scaled(-caution, adjoint_residual_, adjoint_);
  if (!preconditioner_->is_known()) return;
  preconditioner_->solve(lower_residual_);
  add_scaled(-caution, lower_residual_, lower_);
}

void RunningEstimates::mean(const WorkerStates& states, std::vector<double> UpdateMessage::*member,
                            std::span<double> out) const {
  std::fill(out.begin(), out.end(), 0.0);
  const double share = 1 / static_cast<double>(heard_);
  for (std::size_t i = 0; i < table_iteration_.size(); ++i) {
    if (table_iteration_[i] >= 0) add_scaled(share, states.state(i).*member, out);
  }
}

void RunningEstimates::mean_on_supports(const WorkerStates& states,
                                        std::vector<double> UpdateMessage::*member,
                                        std::span<double> out) const {
  std::fill(out.begin(), out.end(), 0.0);
  const double share = 1 / static_cast<double>(heard_);
  for (std::size_t i = 0; i < table_iteration_.size(); ++i) {
    if (table_iteration_[i] < 0) continue;
    const UpperSupport& support = problem_.support(i);
    add_scaled(share, states.state(i).*member, out.subspan(support.begin, support.size));
  }
}

double RunningEstimates::mean(const WorkerStates& states, double UpdateMessage::*member) const {
  double sum = 0;
  const double share = 1 / static_cast<double>(heard_);
  for (std::size_t i = 0; i < table_iteration_.size(); ++i) {
    if (table_iteration_[i] >= 0) sum += share * (states.state(i).*member);
  }
  return sum;
}

double RunningEstimates::mean_age(std::int64_t t) const {
  double sum = 0;
  for (const std::int64_t iteration : table_iteration_) {
    if (iteration >= 0) sum += static_cast<double>(t - iteration);
  }
  return sum / static_cast<double>(heard_);
}

}  // namespace adbo::detail
