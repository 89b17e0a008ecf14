#include "methods/itd/itd_master.h"

#include <algorithm>

namespace adbo::detail {

ItdHypergradient::ItdHypergradient(Rounds& rounds, std::int64_t steps)
    : rounds_(rounds), descent_(rounds, steps) {}

void ItdHypergradient::estimate(double step, OuterPoint& point) {
  const std::span<const double> last = descent_.run(point.upper, point.lower, step);
  std::copy(last.begin(), last.end(), point.lower.begin());
  point.lower_value = descent_.start_value();
  rounds_.ask({.upper = true}, {.upper = point.upper, .lower = point.lower});
  point.value = rounds_.mean(&Evaluation::upper_value);
  rounds_.mean(&Evaluation::upper_gradient_lower, point.adjoint);
  rounds_.mean_on_supports(&Evaluation::upper_gradient_upper, point.gradient);
  descent_.reverse(point.adjoint, point.gradient);
}

}  // namespace adbo::detail
