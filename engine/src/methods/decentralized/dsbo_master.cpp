#include "methods/decentralized/dsbo_master.h"

#include "protocol/vector_math.h"

namespace adbo::detail {

DsboMaster::DsboMaster(const Problem& problem, const Options& options)
    : DecentralizedMaster(problem, options),
      upper_gradient_lower_(lowers()),
      adjoint_gradient_(lowers()),
      last_gradient_(lowers()),
      tracker_(lowers()),
      average_(uppers()) {}

void DsboMaster::advance(std::int64_t t) {
  for (std::int64_t k = 0; k < options().lower_steps; ++k) step_lower(steps().lower(t));
  improve_adjoint(steps().adjoint(t));
  evaluate_hypergradients();
  step_upper(steps().upper(t));
}

void DsboMaster::step_lower(double step) {
  evaluate({.lower = true});
  for (std::size_t i = 0; i < agents_; ++i) add_scaled(-step, rounds().answer(i).lower_gradient, lower_[i]);
  exchange(lower_, mixed_lower_);
  lower_.swap(mixed_lower_);
}

void DsboMaster::improve_adjoint(double step) {
  evaluate({.upper = true, .hessian_product = true});
  for (std::size_t i = 0; i < agents_; ++i)
    upper_gradient_lower_[i] = rounds().answer(i).upper_gradient_lower;
  evaluate_adjoint_gradient();
  exchange(adjoint_gradient_, tracker_);
  for (std::int64_t k = 0; k < options().adjoint_steps; ++k) {
    for (std::size_t i = 0; i < agents_; ++i) add_scaled(-step, tracker_[i], adjoint_[i]);
    exchange(adjoint_, mixed_lower_);
    adjoint_.swap(mixed_lower_);
    if (k + 1 == options().adjoint_steps) return;  // nobody reads the next tracker
    last_gradient_.swap(adjoint_gradient_);
    evaluate({.hessian_product = true});
    evaluate_adjoint_gradient();
    for (std::size_t i = 0; i < agents_; ++i) {
      add_scaled(1.0, adjoint_gradient_[i], tracker_[i]);
      add_scaled(-1.0, last_gradient_[i], tracker_[i]);
    }
    exchange(tracker_, mixed_lower_);
    tracker_.swap(mixed_lower_);
  }
}

/// s_i from the Hessian products of the last round.
void DsboMaster::evaluate_adjoint_gradient() {
  for (std::size_t i = 0; i < agents_; ++i) {
    adjoint_gradient_[i] = rounds().answer(i).hessian_product;
    add_scaled(-1.0, upper_gradient_lower_[i], adjoint_gradient_[i]);
  }
}

void DsboMaster::step_upper(double step) {
  average_hypergradients(average_);
  for (std::size_t i = 0; i < agents_; ++i) add_scaled(-step, average_[i], upper_[i]);
  keep_within_bounds();
  exchange(upper_, mixed_upper_);
  upper_.swap(mixed_upper_);
}

}  // namespace adbo::detail
