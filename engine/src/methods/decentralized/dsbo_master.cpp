#include "methods/decentralized/dsbo_master.h"

#include "protocol/vector_math.h"

namespace adbo::detail {

DsboMaster::DsboMaster(const Problem& problem, const Options& options)
    : DecentralizedMaster(problem, options),
      last_gradient_(lowers()),
      tracker_(lowers()),
      average_(uppers()) {}

void DsboMaster::step_lower(double step) {
  evaluate({.lower = true});
  for (std::size_t i = 0; i < agents_; ++i) add_scaled(-step, rounds().answer(i).lower_gradient, lower_[i]);
  exchange(lower_, mixed_lower_);
  lower_.swap(mixed_lower_);
}

void DsboMaster::improve_adjoint(double step) {
  evaluate_adjoint_gradients(true);
  exchange(adjoint_gradient_, tracker_);
  for (std::int64_t k = 0; k < options().adjoint_steps; ++k) {
    for (std::size_t i = 0; i < agents_; ++i) add_scaled(-step, tracker_[i], adjoint_[i]);
    exchange(adjoint_, mixed_lower_);
    adjoint_.swap(mixed_lower_);
    if (k + 1 == options().adjoint_steps) return;  // nobody reads the next tracker
    last_gradient_.swap(adjoint_gradient_);
    evaluate_adjoint_gradients(false);
    for (std::size_t i = 0; i < agents_; ++i) {
      add_scaled(1.0, adjoint_gradient_[i], tracker_[i]);
      add_scaled(-1.0, last_gradient_[i], tracker_[i]);
    }
    exchange(tracker_, mixed_lower_);
    tracker_.swap(mixed_lower_);
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
