#pragma once

#include "methods/stochastic/neumann_hypergradient.h"
#include "methods/stochastic/stochastic_master.h"

namespace adbo::detail {

/// stocBiO (Ji, Yang, Liang 2021, Algorithm 2). An iteration:
///   lower_steps times  y <- y - step_lower grad_y g(x, y; a batch),  from where the last iteration ended;
///   x <- P(x - step_upper d),  d by the Neumann series of adjoint_steps products with eta = step_adjoint.
/// The paper lets the batches of the series shrink geometrically with the term; here all have batch_rows.
class StocbioMaster final : public StochasticMaster {
 public:
  StocbioMaster(const Problem& problem, const Options& options);

 private:
  std::optional<Ending> advance(const Steps& steps) override;

  const Options& options_;
  NeumannHypergradient hypergradient_;
};

}  // namespace adbo::detail
