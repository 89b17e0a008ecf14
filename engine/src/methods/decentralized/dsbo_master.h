#pragma once

#include "adbo/state_archive.h"
#include "methods/decentralized/decentralized_master.h"

namespace adbo::detail {

/// MA-DSBO as published (dsbo_variant = gossip; Chen, Huang, Ma, Balasubramanian 2022, Algorithms 1 and 2).
/// Of the methods called DSBO this is the one that sends vectors alone: those of Yang, Zhang, Wang 2022 and
/// of Chen, Huang, Ma 2022 send whole Hessians, m^2 numbers per edge.
///
/// An iteration: lower_steps times y <- W (y - step_lower grad_y g_i(x_i, y_i)); adjoint_steps times, with
/// the tracker d of the mean of s_i = (d2 g_i/dy dy) q_i - grad_y G_i,
///   q <- W (q - step_adjoint d),  d <- W (d + s_new - s_old);
/// r_i <- (1 - alpha) r_i + alpha (grad_x G_i - (d2 g_i/dx dy) q_i), x <- W (x - step_upper r). Every agent
/// steps before it mixes, which allows longer steps than mixing first; the adjoint goes on from the last q.
/// Constant steps end at a distance from the solution of the order of the steps times what tells the agents
/// apart, but for the complete graph; step_decay > 0 removes it slowly. TrackingDsboMaster has no such floor.
class DsboMaster final : public DecentralizedMaster {
 public:
  DsboMaster(const Problem& problem, const Options& options);
  void persist(StateArchive& archive) override {
    DecentralizedMaster::persist(archive);
    archive(average_);  // the rest begins anew in every iteration
  }

 private:
  void step_lower(double step) override;
  void improve_adjoint(double step) override;
  void step_upper(double step) override;

  AgentVectors last_gradient_;  ///< s_i of the step before, [N][m]
  AgentVectors tracker_;        ///< d_i, [N][m]
  AgentVectors average_;        ///< r_i, [N][n]
};

}  // namespace adbo::detail
