#include "methods/decentralized/tracking_dsbo_master.h"

namespace adbo::detail {

TrackingDsboMaster::TrackingDsboMaster(const Problem& problem, const Options& options)
    : DecentralizedMaster(problem, options, StepCurvature::kTracked),
      lower_tracking_(lower_),
      adjoint_tracking_(adjoint_),
      upper_tracking_(upper_),
      average_(uppers()),
      lower_gradient_(lowers()) {}

void TrackingDsboMaster::step_lower(double step) {
  evaluate({.lower = true});
  for (std::size_t i = 0; i < agents_; ++i) lower_gradient_[i] = rounds().answer(i).lower_gradient;
  lower_tracking_.absorb(lower_gradient_);
  lower_tracking_.step(step, lower_);
  exchange_with_tracker(lower_tracking_, lower_, mixed_lower_);
}

void TrackingDsboMaster::improve_adjoint(double step) {
  for (std::int64_t k = 0; k < options().adjoint_steps; ++k) {
    evaluate_adjoint_gradients(k == 0);
    adjoint_tracking_.absorb(adjoint_gradient_);
    adjoint_tracking_.step(step, adjoint_);
    exchange_with_tracker(adjoint_tracking_, adjoint_, mixed_lower_);
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
