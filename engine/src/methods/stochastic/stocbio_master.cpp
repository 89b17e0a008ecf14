#include "methods/stochastic/stocbio_master.h"

namespace adbo::detail {

StocbioMaster::StocbioMaster(const Problem& problem, const Options& options)
    : StochasticMaster(problem, options),
      options_(options),
      hypergradient_(rounds(), options.adjoint_steps) {}

std::optional<Ending> StocbioMaster::advance(const Steps& steps) {
  for (std::int64_t k = 0; k < options_.lower_steps; ++k) step_lower(steps.lower, fresh_draws());
  hypergradient_.estimate({.upper = upper(),
                           .lower = lower(),
                           .sampler = sampler(),
                           .first = fresh_draws(hypergradient_.draws())},
                          steps.adjoint, direction_);
  note_curvature(hypergradient_.last_direction(), hypergradient_.last_product());
  note_upper_value(hypergradient_.upper_value());
  step_upper(steps.upper);
  return std::nullopt;
}

}  // namespace adbo::detail
