#pragma once

#include <vector>

#include "adbo/state_archive.h"
#include "methods/stochastic/stochastic_master.h"

namespace adbo::detail {

/// AmIGO (Arbel, Mairal 2022, Algorithm 1 with stochastic gradients for both inner problems). An iteration:
///   lower_steps times    y <- y - step_lower grad_y g(x, y; a batch);
///   adjoint_steps times  q <- q - step_adjoint (H q - b),  H = d2 g/dy dy(x, y; a batch);
///   x <- P(x - step_upper (grad_x G - (d2 g/dx dy) q)),
/// where G and b = grad_y G come from one batch per iteration, and y and q go on from where the last
/// iteration left them.
class AmigoMaster final : public StochasticMaster {
 public:
  AmigoMaster(const Problem& problem, const Options& options);
  void persist(StateArchive& archive) override {
    StochasticMaster::persist(archive);
    archive(adjoint_);
  }

 private:
  std::optional<Ending> advance(const Steps& steps) override;

  const Options& options_;
  std::vector<double> adjoint_, target_, product_;  ///< q, b, H q, [m]
  std::vector<double> cross_;                       ///< [n]
};

}  // namespace adbo::detail
