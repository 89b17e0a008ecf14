#include "methods/running_estimates/running_estimates.h"

#include <algorithm>
#include <cmath>

#include "protocol/start_values.h"
#include "protocol/vector_math.h"

namespace adbo::detail {

RunningEstimates::RunningEstimates(const Problem& problem, ContributionForm form)
    : problem_(problem),
      form_(form),
      preconditioner_(make_preconditioner(problem)),
      lower_(lower_start(problem)),
      adjoint_(problem.lower_dim()),
      lower_residual_(problem.lower_dim()),
      adjoint_residual_(problem.lower_dim()),
      table_iteration_(problem.num_workers(), -1) {
  if (form_ == ContributionForm::kWhole) return;
  common_ = problem.common_term()->clone();
  common_gradient_.resize(problem.lower_dim());
  common_curvature_.resize(problem.lower_dim());
  common_cross_.resize(problem.upper_dim());
}

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

void RunningEstimates::sum(const WorkerStates& states, std::span<const double> upper,
                           std::span<const double> right_hand_side, double damping) {
  mean(states, &UpdateMessage::lower_gradient, lower_residual_);
  mean(states, &UpdateMessage::hessian_product, adjoint_residual_);
  if (form_ == ContributionForm::kAffine) add_common_part(upper);
  preconditioner_->see_product(adjoint_, adjoint_residual_);
  preconditioner_->refresh(damping);
  if (form_ == ContributionForm::kAffine) {
    preconditioner_->add_mean_block_product(lower_, lower_residual_);
    preconditioner_->add_mean_block_product(adjoint_, adjoint_residual_);
  }
  add_scaled(damping, adjoint_, adjoint_residual_);
  add_scaled(-1.0, right_hand_side, adjoint_residual_);
}

/// r's part of both residuals, and of P, at the present v, y-hat and q.
void RunningEstimates::add_common_part(std::span<const double> upper) {
  common_->gradient(upper, lower_, common_gradient_);
  common_->curvature(upper, lower_, common_curvature_);
  add_scaled(1.0, common_gradient_, lower_residual_);
  for (std::size_t k = 0; k < adjoint_.size(); ++k)
    adjoint_residual_[k] += common_curvature_[k] * adjoint_[k];
  preconditioner_->set_common_curvature(common_curvature_);
}

void RunningEstimates::subtract_common_cross(std::span<const double> upper, std::span<double> direction) {
  if (form_ == ContributionForm::kWhole) return;
  common_->cross_product(upper, lower_, adjoint_, common_cross_);
  add_scaled(-1.0, common_cross_, direction);
}

/// A contribution that is k iterations old makes the step act k iterations late; 1 / (1 + mean age) keeps
/// that stable, and is Newton's own step when nothing is late. Affine contributions are taken where the
/// estimates are now: what is late in them is of second order, and the step is Newton's whatever their age.
void RunningEstimates::improve(std::int64_t t) {
  const double caution = form_ == ContributionForm::kAffine ? 1 : 1 / (1 + mean_age(t));
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

EstimateLag RunningEstimates::lag(std::int64_t t) const {
  return {.lower = std::sqrt(squared_norm(lower_residual_)),
          .adjoint = std::sqrt(squared_norm(adjoint_residual_)),
          .mean_age = mean_age(t)};
}

}  // namespace adbo::detail
