#include "methods/exact/implicit_function.h"

#include <cmath>
#include <sstream>

#include "protocol/vector_math.h"

namespace adbo::detail {

ImplicitFunction::ImplicitFunction(Rounds& rounds)
    : rounds_(rounds),
      lower_system_(make_lower_system(rounds)),
      upper_gradient_lower_(rounds.problem().lower_dim()),
      lower_gradient_(rounds.problem().lower_dim()),
      cross_product_(rounds.problem().upper_dim()) {}

SolveFailure ImplicitFunction::evaluate(OuterPoint& point) {
  if (SolveFailure failure = evaluate_value(point)) return failure;
  return differentiate(point);
}

SolveFailure ImplicitFunction::evaluate_value(OuterPoint& point) {
  if (SolveFailure failure = lower_system_->minimize(point.upper, point.lower, lower_tolerance_)) {
    return failure;
  }
  rounds_.ask({.upper = true, .lower = true}, {.upper = point.upper, .lower = point.lower});
  rounds_.mean(&Evaluation::upper_gradient_lower, upper_gradient_lower_);
  rounds_.mean(&Evaluation::lower_gradient, lower_gradient_);
  rounds_.mean_on_supports(&Evaluation::upper_gradient_upper, point.gradient);
  point.value = rounds_.mean(&Evaluation::upper_value);
  point.lower_value = rounds_.mean(&Evaluation::lower_value);
  return std::nullopt;
}

SolveFailure ImplicitFunction::differentiate(OuterPoint& point) {
  if (SolveFailure failure = solve_adjoint(point)) return failure;
  rounds_.ask({.cross_product = true},
              {.upper = point.upper, .lower = point.lower, .direction = point.adjoint});
  rounds_.mean_on_supports(&Evaluation::cross_product, cross_product_);
  add_scaled(-1.0, cross_product_, point.gradient);
  return std::nullopt;
}

/// q, and with it a lower level that is solved as far as the value needs.
SolveFailure ImplicitFunction::solve_adjoint(OuterPoint& point) {
  constexpr int kMostTightenings = 4;
  constexpr double kTightening = 1e-2;
  for (int k = 0;; ++k) {
    if (SolveFailure failure =
            lower_system_->solve_adjoint(point.upper, point.lower, upper_gradient_lower_, point.adjoint)) {
      return failure;
    }
    const double error = value_error(point), scale = 1 + std::abs(point.value);
    if (error <= kValueAccuracy * scale) return std::nullopt;
    // A smaller gradient than the tolerance's was not to be had where the search stalled before it.
    const bool stalled = std::sqrt(squared_norm(lower_gradient_)) > 2 * lower_tolerance_;
    if (stalled || k == kMostTightenings) {
      if (error <= kWorstValueError * scale) return std::nullopt;
      std::ostringstream text;
      text << "the lower level could not be solved exactly enough: its remaining gradient leaves an error of "
           << error << " in the upper objective " << point.value;
      return text.str();
    }
    lower_tolerance_ *= kTightening;
    if (SolveFailure failure = evaluate_value(point)) return failure;
  }
}

double ImplicitFunction::value_error(const OuterPoint& point) const {
  return std::abs(dot(point.adjoint, lower_gradient_));
}

}  // namespace adbo::detail
