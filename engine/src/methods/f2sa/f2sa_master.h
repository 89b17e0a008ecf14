#pragma once

#include <vector>

#include "adbo/state_archive.h"
#include "methods/synchronous/descent_master.h"

namespace adbo::detail {

/// F2SA (Kwon, Kwon, Wright, Nowak 2023, Algorithm 1) with exact gradients: no second derivatives. With the
/// multiplier lambda = lambda_t,
///   z <- z - step_lower grad_y g(x, z)                          lower_steps times,
///   y <- y - step_lower (grad_y g(x, y) + grad_y G(x, y) / lambda)   lower_steps times,
///   d = grad_x G(x, y) + lambda (grad_x g(x, y) - grad_x g(x, z)).
/// The penalized objective is divided by lambda, so that one step suits both sequences. At the two minimizers
/// d differs from dF/dx by O(1 / lambda). What the run reports as the lower variable is z, whose limit is
/// y*(x).
class F2saMaster final : public DescentMaster {
 public:
  F2saMaster(const Problem& problem, const Options& options);
  void persist(StateArchive& archive) override {
    DescentMaster::persist(archive);
    archive(penalized_);
  }

 private:
  SolveFailure estimate(std::int64_t t, OuterPoint& point) override;
  void step_penalized(std::span<const double> upper, double step, double multiplier);

  LowerDescent descent_;
  std::vector<double> penalized_;                        ///< y, [m]
  std::vector<double> lower_gradient_, upper_gradient_;  ///< [m]
  std::vector<double> slope_;                            ///< [n]
};

}  // namespace adbo::detail
