#include "methods/stochastic/amigo_master.h"

#include "protocol/vector_math.h"

namespace adbo::detail {

AmigoMaster::AmigoMaster(const Problem& problem, const Options& options)
    : StochasticMaster(problem, options),
      options_(options),
      adjoint_(problem.lower_dim()),
      target_(problem.lower_dim()),
      product_(problem.lower_dim()),
      cross_(problem.upper_dim()) {}

std::optional<Ending> AmigoMaster::advance(const Steps& steps) {
  for (std::int64_t k = 0; k < options_.lower_steps; ++k) step_lower(steps.lower, fresh_draws());

  evaluate({.upper = true}, {}, fresh_draws());
  rounds().mean(&Evaluation::upper_gradient_lower, target_);
  rounds().mean_on_supports(&Evaluation::upper_gradient_upper, direction_);
  for (std::int64_t k = 0; k < options_.adjoint_steps; ++k) {
    evaluate({.hessian_product = true}, adjoint_, fresh_draws());
    rounds().mean(&Evaluation::hessian_product, product_);
    note_curvature(adjoint_, product_);
    add_scaled(-steps.adjoint, product_, adjoint_);
    add_scaled(steps.adjoint, target_, adjoint_);
  }

  evaluate({.cross_product = true}, adjoint_, fresh_draws());
  rounds().mean_on_supports(&Evaluation::cross_product, cross_);
  add_scaled(-1.0, cross_, direction_);
  step_upper(steps.upper);
  return std::nullopt;
}

}  // namespace adbo::detail
