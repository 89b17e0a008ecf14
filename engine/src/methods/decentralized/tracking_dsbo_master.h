#pragma once

#include "adbo/state_archive.h"
#include "methods/decentralized/decentralized_master.h"
#include "methods/decentralized/gradient_tracking.h"

namespace adbo::detail {

/// MA-DSBO with gradient tracking wherever it gossips (dsbo_variant = tracking): as in DsboMaster, but y, q
/// and x step along trackers d^y, d^q, d^x of the agents' mean grad_y g_i, s_i and r_i that go on from one
/// iteration to the next, as in the later methods with gradient tracking on every level (Dong, Ma, Yang, Yin
/// 2023; Zhu, Kong, Lu, Li, Shu 2024). An iteration: lower_steps times y <- W (y - step_lower d^y);
/// adjoint_steps times q <- W (q - step_adjoint d^q); x <- W (x - step_upper d^x). Its fixed points have all
/// agents equal and the means of grad_y g_i, s_i and r_i zero (of the projected step of x, with bounds): no
/// floor at constant steps, whatever the graph and the agents' differences. A vector's tracker goes to the
/// neighbours with the vector: as many messages as DsboMaster sends for y and x, of twice the size.
class TrackingDsboMaster final : public DecentralizedMaster {
 public:
  TrackingDsboMaster(const Problem& problem, const Options& options);
  void persist(StateArchive& archive) override {
    DecentralizedMaster::persist(archive);
    archive(lower_tracking_, adjoint_tracking_, upper_tracking_, average_);
  }

 private:
  void step_lower(double step) override;
  void improve_adjoint(double step) override;
  void step_upper(double step) override;
  /// z <- W z and d <- W d: what is sent is as long as two of z.
  void exchange_with_tracker(GradientTracking& tracking, AgentVectors& z, AgentVectors& mixed);

  GradientTracking lower_tracking_, adjoint_tracking_, upper_tracking_;  ///< d^y, d^q, d^x
  AgentVectors average_;                                                 ///< r_i, [N][n]
  AgentVectors lower_gradient_;                                          ///< grad_y g_i, [N][m]
};

}  // namespace adbo::detail
