#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "adbo/state_archive.h"
#include "methods/synchronous/adjoint_solver.h"
#include "methods/synchronous/descent_master.h"

namespace adbo::detail {

/// FedNest (Tarzanagh, Li, Thrampoulidis, Oymak 2022), every worker taking part in every round.
///
/// An iteration is fednest_rounds = T rounds of FedInn (Algorithm 4) and one FedOut (Algorithm 2):
///   FedInn: q = mean_i grad_y g_i(x, y); lower_steps local steps with d = grad_y g_i(x, y_i) -
///           grad_y g_i(x, y) + q; y <- mean of the y_i.
///   FedOut: p by the federated Neumann series (FedIHGP, Algorithm 3) with adjoint_steps terms, h = mean_i
///           (grad_x G_i - (d2 g_i/dx dy) p); upper_steps local steps with d = grad_x G_i(x_i, y) -
///           grad_x G_i(x, y) + h; x <- mean of the x_i.
/// Two differences to the algorithms: FedIHGP draws the number of terms at random, here it is the sum of all
/// terms, which is the expectation of theirs; and the local step is step_lower itself, not divided by the
/// number of local steps.
///
/// The light variant (LFedNest) takes local steps without correction, and d = the worker's own hypergradient
/// by its own Hessian in FedOut: two rounds an iteration, and a bias where workers differ.
class FedNestMaster final : public DescentMaster {
 public:
  /// `sampler` is also the workers'.
  FedNestMaster(const Problem& problem, const Options& options, std::shared_ptr<const BatchSampler> sampler);
  void persist(StateArchive& archive) override {
    DescentMaster::persist(archive);
    archive(next_draw_);
  }

 private:
  SolveFailure estimate(std::int64_t t, OuterPoint& point) override;
  void improve_lower(double step, OuterPoint& point);
  SolveFailure federated_hypergradient(double adjoint_step, OuterPoint& point);
  void step_upper_locally(std::int64_t t, OuterPoint& point);
  void take_upper_mean(double step, double outside, OuterPoint& point);
  /// The first of `count` draws that nobody has used.
  std::uint64_t take_draws(std::int64_t count);

  std::shared_ptr<const BatchSampler> sampler_;
  std::unique_ptr<AdjointSolver> solver_;
  bool upper_depends_on_x_ = false;
  std::uint64_t next_draw_ = 0;
  std::vector<double> lower_gradient_, upper_gradient_lower_;  ///< [m]
  std::vector<double> cross_product_, moved_;                  ///< [n]
};

}  // namespace adbo::detail
