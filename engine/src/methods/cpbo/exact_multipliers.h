#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "methods/adbo/polytope.h"
#include "methods/cuts/nonnegative_qp.h"

namespace adbo::detail {

/// The multipliers with which one step of (B106) and (B107) meets the polytope P: the dual solution of
///   min over (x', y') in P of grad F.(x' - x, y' - y) + |x' - x|^2 / (2 eta_x) + |y' - y|^2 / (2 eta_y),
/// that is
///   min over lambda >= 0 of 1/2 lambda'Q lambda - lambda'r,  Q_kl = eta_x a_k.a_l + eta_y b_k.b_l,
///   r_l = c_l(x, y) - eta_x a_l.grad_x F - eta_y b_l.grad_y F.
/// Fixed points of the steps with them are the saddle points of L_p, as with the ascent (B108); but no step
/// size is left, and the length of a cut's normal, which falls with h, does not matter.
class ExactMultipliers {
 public:
  /// Of at most so many cuts.
  explicit ExactMultipliers(std::size_t capacity);

  /// The polytope has other cuts than at the last call.
  void forget_cuts() { is_current_ = false; }

  struct Step {
    double upper = 0, lower = 0;                             ///< eta_x, eta_y
    std::span<const double> point_upper, point_lower;        ///< x [n], y [m]
    std::span<const double> gradient_upper, gradient_lower;  ///< of F there
  };
  /// Sets the polytope's multipliers.
  void solve(const Step& step, Polytope& polytope);

 private:
  void build_gram(const Step& step, const Polytope& polytope);

  NonnegativeQp qp_;
  bool is_current_ = false;   ///< gram_ belongs to the polytope's cuts
  std::vector<double> gram_;  ///< Q, [cuts * cuts]
  std::vector<double> linear_, multiplier_;
};

}  // namespace adbo::detail
