#pragma once

#include <vector>

#include "adbo/state_archive.h"
#include "methods/stochastic/stochastic_master.h"

namespace adbo::detail {

/// SOBA (Dagreou, Ablin, Vaiter, Moreau 2022, Algorithm 1 with plain stochastic directions). The lower
/// solution, the adjoint and x move at once, from estimates at one point and in one round:
///   y <- y - step_lower grad_y g,   q <- q - step_adjoint (H q - grad_y G),
///   x <- P(x - step_upper (grad_x G - (d2 g/dx dy) q)),
/// with one batch for all terms in g and one for those in G.
class SobaMaster : public StochasticMaster {
 public:
  SobaMaster(const Problem& problem, const Options& options);

  void persist(StateArchive& archive) override {
    StochasticMaster::persist(archive);
    archive(adjoint_);
  }

 protected:
  /// The five quantities that a direction is made of, as means over the workers.
  struct Terms {
    std::vector<double> upper_gradient_upper;  ///< grad_x G, [n]
    std::vector<double> upper_gradient_lower, lower_gradient,
        hessian_product;                ///< grad_y G, grad_y g, H q, [m]
    std::vector<double> cross_product;  ///< (d2 g/dx dy) q, [n]
  };
  /// Everything at the point of the iteration under way; the workers' answers stand when it returns.
  void ask_terms(const BatchDraws& draws);
  /// The terms of the iteration, from answers to fresh draws.
  virtual void estimate(Terms& terms);

 private:
  std::optional<Ending> advance(const Steps& steps) final;

  std::vector<double> adjoint_;  ///< q, [m]
  Terms terms_;
};

}  // namespace adbo::detail
