#pragma once

#include <vector>

#include "adbo/state_archive.h"
#include "methods/stochastic/neumann_hypergradient.h"
#include "methods/stochastic/stochastic_master.h"

namespace adbo::detail {

/// VRBO (Yang, Ji, Liang 2021, Algorithm 2). Two recursive estimators follow the point: u of grad_y g and w
/// of the hypergradient. In every vrbo_period-th iteration both are computed afresh from all rows. Then
///   x <- P(x - step_upper w),
/// lower_steps times the estimators follow and  y <- y - step_lower u,  and they follow once more:
///   u <- u + grad_y g(x, y; a batch) - grad_y g(x', y'; the same),  likewise w,  (x', y') <- (x, y),
/// where (x', y') is the point they stood at and the hypergradients are those of a Neumann series of
/// adjoint_steps products with eta = step_adjoint.
class VrboMaster final : public StochasticMaster {
 public:
  VrboMaster(const Problem& problem, const Options& options);
  void persist(StateArchive& archive) override {
    StochasticMaster::persist(archive);
    archive(iterations_, upper_estimate_, lower_estimate_, old_upper_, old_lower_);
  }

 private:
  std::optional<Ending> advance(const Steps& steps) override;
  void refresh(const Steps& steps);
  void follow(const Steps& steps);
  void stand_here();
  void add_estimates(double sign, std::span<const double> upper, std::span<const double> lower,
                     const BatchDraws& draws, const Steps& steps);

  const Options& options_;
  NeumannHypergradient hypergradient_;
  BatchSampler all_rows_;
  std::int64_t iterations_ = 0;
  std::vector<double> upper_estimate_;           ///< w, [n]
  std::vector<double> lower_estimate_;           ///< u, [m]
  std::vector<double> old_upper_, old_lower_;    ///< (x', y'), [n] and [m]
  std::vector<double> lower_part_, upper_part_;  ///< one evaluation's grad_y g and hypergradient, [m] and [n]
};

}  // namespace adbo::detail
