#include "methods/f2sa/f2sa_master.h"

#include <cmath>

#include "protocol/start_values.h"
#include "protocol/vector_math.h"

namespace adbo::detail {

F2saMaster::F2saMaster(const Problem& problem, const Options& options)
    : DescentMaster(problem, options),
      descent_(rounds()),
      penalized_(lower_start(problem)),
      lower_gradient_(problem.lower_dim()),
      upper_gradient_(problem.lower_dim()),
      slope_(problem.upper_dim()) {}

SolveFailure F2saMaster::estimate(std::int64_t t, OuterPoint& point) {
  const double multiplier =
      options().f2sa_multiplier * std::pow(1 + static_cast<double>(t), options().f2sa_growth);
  descent_.run(point.upper, steps().lower(t), options().lower_steps, point.lower);
  for (std::int64_t k = 0; k < options().lower_steps; ++k) {
    step_penalized(point.upper, steps().lower(t), multiplier);
  }
  rounds().ask({.upper = true, .lower_slope = true}, {.upper = point.upper, .lower = penalized_});
  point.value = rounds().mean(&Evaluation::upper_value);
  rounds().mean_on_supports(&Evaluation::upper_gradient_upper, point.gradient);
  rounds().mean_on_supports(&Evaluation::lower_slope, slope_);
  add_scaled(multiplier, slope_, point.gradient);
  rounds().ask({.lower = true, .lower_slope = true}, {.upper = point.upper, .lower = point.lower});
  point.lower_value = rounds().mean(&Evaluation::lower_value);
  rounds().mean_on_supports(&Evaluation::lower_slope, slope_);
  add_scaled(-multiplier, slope_, point.gradient);
  return {};
}

void F2saMaster::step_penalized(std::span<const double> upper, double step, double multiplier) {
  rounds().ask({.upper = true, .lower = true}, {.upper = upper, .lower = penalized_});
  rounds().mean(&Evaluation::lower_gradient, lower_gradient_);
  rounds().mean(&Evaluation::upper_gradient_lower, upper_gradient_);
  add_scaled(-step, lower_gradient_, penalized_);
  add_scaled(-step / multiplier, upper_gradient_, penalized_);
}

}  // namespace adbo::detail
