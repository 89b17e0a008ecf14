#pragma once

#include <memory>
#include <vector>

#include "adbo/state_archive.h"
#include "methods/exact/lower_system.h"
#include "methods/synchronous/outer_point.h"
#include "methods/synchronous/rounds.h"

namespace adbo::detail {

/// F and its gradient by implicit differentiation at a solved lower level:
///   dF/dv = grad_x G - (d2 g/dx dy) q,  (d2 g/dy dy) q = grad_y G, all at (v, y*(v)), means over the
///   workers.
///
/// How exactly the lower level is solved follows from what is wanted of F: to first order, a remaining
/// gradient r of g changes F by <q, r>. Where that is more than kValueAccuracy (1 + |F|), the lower level is
/// solved to a smaller gradient, now and from then on.
class ImplicitFunction {
 public:
  /// `rounds` must outlive the object.
  explicit ImplicitFunction(Rounds& rounds);

  /// Value and gradient at point.upper; on failure the point's other entries mean nothing. May throw
  /// RoundEnded.
  SolveFailure evaluate(OuterPoint& point);
  /// The value alone.
  SolveFailure evaluate_value(OuterPoint& point);
  /// The gradient where evaluate_value() was called last.
  SolveFailure differentiate(OuterPoint& point);

  static constexpr double kValueAccuracy = 1e-10;
  /// Beyond this, relative to 1 + |F|, the value is none.
  static constexpr double kWorstValueError = 1e-7;
  void persist(StateArchive& archive) { archive(lower_tolerance_); }

 private:
  SolveFailure solve_adjoint(OuterPoint& point);
  [[nodiscard]] double value_error(const OuterPoint& point) const;

  Rounds& rounds_;
  std::unique_ptr<LowerSystem> lower_system_;
  double lower_tolerance_ = 1e-9;
  std::vector<double> upper_gradient_lower_, lower_gradient_;  ///< grad_y G and grad_y g, [m]
  std::vector<double> cross_product_;                          ///< [n]
};

}  // namespace adbo::detail
