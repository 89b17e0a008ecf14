#include "methods/stochastic/soba_master.h"

#include "protocol/vector_math.h"

namespace adbo::detail {

SobaMaster::SobaMaster(const Problem& problem, const Options& options)
    : StochasticMaster(problem, options),
      adjoint_(problem.lower_dim()),
      terms_{.upper_gradient_upper = std::vector<double>(problem.upper_dim()),
             .upper_gradient_lower = std::vector<double>(problem.lower_dim()),
             .lower_gradient = std::vector<double>(problem.lower_dim()),
             .hessian_product = std::vector<double>(problem.lower_dim()),
             .cross_product = std::vector<double>(problem.upper_dim())} {}

void SobaMaster::ask_terms(const BatchDraws& draws) {
  evaluate({.upper = true, .lower = true, .hessian_product = true, .cross_product = true}, adjoint_, draws);
}

void SobaMaster::estimate(Terms& terms) {
  ask_terms(fresh_draws());
  rounds().mean_on_supports(&Evaluation::upper_gradient_upper, terms.upper_gradient_upper);
  rounds().mean(&Evaluation::upper_gradient_lower, terms.upper_gradient_lower);
  rounds().mean(&Evaluation::lower_gradient, terms.lower_gradient);
  rounds().mean(&Evaluation::hessian_product, terms.hessian_product);
  rounds().mean_on_supports(&Evaluation::cross_product, terms.cross_product);
}

std::optional<Ending> SobaMaster::advance(const Steps& steps) {
  estimate(terms_);
  note_curvature(adjoint_, terms_.hessian_product);
  add_scaled(-steps.lower, terms_.lower_gradient, lower());
  add_scaled(-steps.adjoint, terms_.hessian_product, adjoint_);
  add_scaled(steps.adjoint, terms_.upper_gradient_lower, adjoint_);
  for (std::size_t j = 0; j < direction_.size(); ++j) {
    direction_[j] = terms_.upper_gradient_upper[j] - terms_.cross_product[j];
  }
  step_upper(steps.upper);
  return std::nullopt;
}

}  // namespace adbo::detail
