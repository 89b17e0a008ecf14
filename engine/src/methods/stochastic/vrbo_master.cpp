#include "methods/stochastic/vrbo_master.h"

#include <algorithm>

#include "protocol/vector_math.h"

namespace adbo::detail {

VrboMaster::VrboMaster(const Problem& problem, const Options& options)
    : StochasticMaster(problem, options),
      options_(options),
      hypergradient_(rounds(), options.adjoint_steps),
      all_rows_(problem, options.seed, 0),
      upper_estimate_(problem.upper_dim()),
      lower_estimate_(problem.lower_dim()),
      old_upper_(problem.upper_dim()),
      old_lower_(problem.lower_dim()),
      lower_part_(problem.lower_dim()),
      upper_part_(problem.upper_dim()) {}

std::optional<Ending> VrboMaster::advance(const Steps& steps) {
  if (iterations_++ % options_.vrbo_period == 0) refresh(steps);
  direction_ = upper_estimate_;
  step_upper(steps.upper);
  for (std::int64_t k = 0; k < options_.lower_steps; ++k) {
    follow(steps);
    add_scaled(-steps.lower, lower_estimate_, lower());
  }
  const bool is_refreshed_next = iterations_ % options_.vrbo_period == 0;
  if (!is_refreshed_next) follow(steps);
  return std::nullopt;
}

/// u and w at the point of the iteration, from all rows.
void VrboMaster::refresh(const Steps& steps) {
  rounds().ask({.lower = true}, {.upper = upper(), .lower = lower()});
  rounds().mean(&Evaluation::lower_gradient, lower_estimate_);
  hypergradient_.estimate({.upper = upper(), .lower = lower(), .sampler = all_rows_, .first = {}},
                          steps.adjoint, upper_estimate_);
  note_curvature(hypergradient_.last_direction(), hypergradient_.last_product());
  note_upper_value(hypergradient_.upper_value());
  stand_here();
}

/// u and w move on to the point of the iteration.
void VrboMaster::follow(const Steps& steps) {
  const BatchDraws draws = fresh_draws(hypergradient_.draws());
  add_estimates(1, upper(), lower(), draws, steps);
  add_estimates(-1, old_upper_, old_lower_, draws, steps);
  stand_here();
}

void VrboMaster::stand_here() {
  std::copy(upper().begin(), upper().end(), old_upper_.begin());
  std::copy(lower().begin(), lower().end(), old_lower_.begin());
}

void VrboMaster::add_estimates(double sign, std::span<const double> at_upper,
                               std::span<const double> at_lower, const BatchDraws& draws,
                               const Steps& steps) {
  rounds().ask({.lower = true}, {.upper = at_upper, .lower = at_lower}, sampler(), draws);
  rounds().mean(&Evaluation::lower_gradient, lower_part_);
  add_scaled(sign, lower_part_, lower_estimate_);
  hypergradient_.estimate({.upper = at_upper, .lower = at_lower, .sampler = sampler(), .first = draws},
                          steps.adjoint, upper_part_);
  add_scaled(sign, upper_part_, upper_estimate_);
}

}  // namespace adbo::detail
