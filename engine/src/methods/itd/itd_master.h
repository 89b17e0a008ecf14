#pragma once

#include <vector>

#include "methods/synchronous/descent_master.h"
#include "methods/synchronous/unrolled_descent.h"

namespace adbo::detail {

/// Iterative differentiation: d = d/dx G(x, y_D(x)) with y_0 constant, by the reverse of D gradient steps. At
/// y_0 = y*(x) its error against dF/dx is the tail of the Neumann series,
///   (d2 g/dx dy) H^-1 (I - step H)^D grad_y G.
class ItdHypergradient {
 public:
  ItdHypergradient(Rounds& rounds, std::int64_t steps);
  /// point.lower becomes y_D; fills gradient, adjoint (p_0) and the values.
  void estimate(double step, OuterPoint& point);

 private:
  Rounds& rounds_;
  UnrolledDescent descent_;
};

/// ITD-BiO (Ji, Yang, Liang 2021, Algorithm 1): lower_steps = D gradient steps of y from the last y, reverse
/// differentiation through them, a gradient step of x. The iterates are kept at the master.
class ItdMaster final : public DescentMaster {
 public:
  ItdMaster(const Problem& problem, const Options& options)
      : DescentMaster(problem, options), hypergradient_(rounds(), options.lower_steps) {}

 private:
  SolveFailure estimate(std::int64_t t, OuterPoint& point) override {
    hypergradient_.estimate(steps().lower(t), point);
    return {};
  }

  ItdHypergradient hypergradient_;
};

}  // namespace adbo::detail
