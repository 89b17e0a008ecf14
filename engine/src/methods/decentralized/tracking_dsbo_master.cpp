#include "methods/decentralized/tracking_dsbo_master.h"

#include "protocol/vector_math.h"

namespace adbo::detail {

TrackingDsboMaster::TrackingDsboMaster(const Problem& problem, const Options& options)
    : DecentralizedMaster(problem, options, StepCurvature::kTracked),
      lower_tracking_(lower_),
      adjoint_tracking_(adjoint_),
      upper_tracking_(upper_),
      average_(uppers()),
      lower_directions_(lowers()),
      upper_gradient_lower_(lowers()) {}

void TrackingDsboMaster::advance(std::int64_t t) {
  for (std::int64_t k = 0; k < options().lower_steps; ++k) step_lower(steps().lower(t));
  improve_adjoint(steps().adjoint(t));
  evaluate_hypergradients();
  step_upper(steps().upper(t));
}

void TrackingDsboMaster::step_lower(double step) {
  evaluate({.lower = true});
  for (std::size_t i = 0; i < agents_; ++i) lower_directions_[i] = rounds().answer(i).lower_gradient;
  lower_tracking_.absorb(lower_directions_);
  lower_tracking_.step(step, lower_);
  exchange_with_tracker(lower_tracking_, lower_, mixed_lower_);
}

void TrackingDsboMaster::improve_adjoint(double step) {
  for (std::int64_t k = 0; k < options().adjoint_steps; ++k) {
    evaluate_adjoint_gradients(k == 0);
    adjoint_tracking_.absorb(lower_directions_);
    adjoint_tracking_.step(step, adjoint_);
    exchange_with_tracker(adjoint_tracking_, adjoint_, mixed_lower_);
  }
}

/// s_i = (d2 g_i/dy dy) q_i - grad_y G_i; x_i and y_i stay while q moves, and grad_y G_i with them.
void TrackingDsboMaster::evaluate_adjoint_gradients(bool is_first) {
  evaluate({.upper = is_first, .hessian_product = true});
  for (std::size_t i = 0; i < agents_; ++i) {
    const Evaluation& answer = rounds().answer(i);
    if (is_first) upper_gradient_lower_[i] = answer.upper_gradient_lower;
    lower_directions_[i] = answer.hessian_product;
    add_scaled(-1.0, upper_gradient_lower_[i], lower_directions_[i]);
  }
}

void TrackingDsboMaster::step_upper(double step) {
  average_hypergradients(average_);
  upper_tracking_.absorb(average_);
  upper_tracking_.step(step, upper_);
  keep_within_bounds();
  exchange_with_tracker(upper_tracking_, upper_, mixed_upper_);
}

void TrackingDsboMaster::exchange_with_tracker(GradientTracking& tracking, AgentVectors& z,
                                               AgentVectors& mixed) {
  network().mix(z, mixed);
  z.swap(mixed);
  tracking.mix(network());
  rounds().count_exchange(network().edges(), 2 * z.front().size());
}

}  // namespace adbo::detail
