#pragma once

#include "adbo/state_archive.h"
#include "methods/decentralized/decentralized_master.h"

namespace adbo::detail {

/// Primal-dual steps of the linearized augmented Lagrangian for one consensus: z_i = z_j over the edges.
///   z <- z - c (I - W) z - step (gradient + p),  p <- p + (c / step) (I - W) z.
/// Their fixed points have all z_i equal and the gradients' sum zero, whatever the agents' differences. The
/// dual takes the exchange of the next step's primal: one per step.
class ConsensusSteps {
 public:
  /// Of vectors like those of `like`, from dual zero. `network` must outlive the object.
  ConsensusSteps(const Network& network, double penalty, const AgentVectors& like);

  /// `mixed` holds W z; z is updated.
  void step_primal(double step, const AgentVectors& gradients, const AgentVectors& mixed,
                   AgentVectors& z) const;
  /// `mixed` holds W z of the updated z.
  void step_dual(double step, const AgentVectors& mixed, const AgentVectors& z);
  void persist(StateArchive& archive) { archive(dual_); }

 private:
  double penalty_;
  AgentVectors dual_;
};

/// SPDB as a method for this problem. Lu, Cui, Squillante, Kingsbury, Horesh 2022 take primal-dual steps for
/// the consensus of x while every agent keeps a lower problem of its own; their successor SLAM (Lu, Zeng,
/// Cui, Squillante, Horesh, Kingsbury, Liu, Hong 2022) does so on both levels, which is the problem here,
/// where the lower objective is the workers' sum. An iteration takes lower_steps steps of y, adjoint_steps
/// steps of the adjoint, whose system (sum_i d2 g_i/dy dy) q = sum_i grad_y G_i is a third consensus problem,
/// and one step of x along grad_x G_i - (d2 g_i/dx dy) q_i. No bias at constant steps.
class SpdbMaster final : public DecentralizedMaster {
 public:
  SpdbMaster(const Problem& problem, const Options& options);
  void persist(StateArchive& archive) override {
    DecentralizedMaster::persist(archive);
    archive(lower_steps_, adjoint_steps_, upper_steps_, mixed_y_, mixed_q_, mixed_x_);
  }

 private:
  void step_lower(double step) override;
  void improve_adjoint(double step) override;
  void step_upper(double step) override;

  ConsensusSteps lower_steps_, adjoint_steps_, upper_steps_;
  AgentVectors mixed_y_, mixed_q_, mixed_x_;  ///< W y, W q, W x
  AgentVectors lower_gradient_;               ///< grad_y g_i, [N][m]
};

}  // namespace adbo::detail
