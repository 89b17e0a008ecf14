#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "adbo/options.h"
#include "adbo/problem.h"
#include "methods/adbo/adbo_settings.h"
#include "protocol/worker.h"

namespace adbo::detail {

/// The worker's half of ADBO: new_25 and new_26, its part of the lower rounds (97_35) and of their reverse,
/// and of the stationarity gap.
class AdboWorker final : public WorkerProgram {
 public:
  AdboWorker(const Problem& problem, std::size_t index, const Options& options);

  void step(const Request& request, const Snapshot& snapshot, const UpdateMessage& previous,
            UpdateMessage& out) override;
  void round(const Request& request, const Snapshot& snapshot, const UpdateMessage& previous,
             RoundMessage& out) override;
  void size(UpdateMessage& message) const override;
  void size(RoundMessage& message) const override;
  void fill_start(UpdateMessage& message) const override;

 private:
  /// The part of x that the objectives see: of the worker's copy, or of v where the copy is eliminated.
  [[nodiscard]] std::span<const double> objective_upper(std::span<const double> upper_local,
                                                        const Snapshot& snapshot) const;
  [[nodiscard]] std::span<const double> consensus_on_support(const Snapshot& snapshot) const;
  double upper_gradients(std::span<const double> upper_local, std::span<const double> lower_local,
                         const Snapshot& snapshot, std::span<double> lower_gradient);
  void step_upper(const Request& request, const UpdateMessage& previous, UpdateMessage& out) const;
  void answer(const Request& request, const Snapshot& snapshot, const UpdateMessage& previous,
              RoundMessage& out);
  void forward(const Request& request, const Snapshot& snapshot, const UpdateMessage& previous,
               RoundMessage& out);
  void fill_cut_block(const Request& request, std::span<const double> point, RoundMessage& out);
  void reverse(const Request& request, const Snapshot& snapshot, RoundMessage& out);
  void isolated_gradient(const Request& request, const Snapshot& snapshot, RoundMessage& out);
  void measure(const Request& request, const Snapshot& snapshot, RoundMessage& out);
  /// upper_gradient_ += factor (d2 g_i/dv dy)(v, point) u, and hessian_product_ = (d2 g_i/dy dy) u where
  /// wanted.
  void add_cross_product(const Snapshot& snapshot, std::span<const double> point, std::span<const double> u,
                         double factor, bool with_hessian, WorkCounts& work);

  WorkerObjective& objective_;
  const Options& options_;
  std::size_t index_;
  UpperSupport support_;
  LocalUpper local_;
  std::size_t lower_dim_;
  const StartPoint& start_;
  std::size_t upper_dim_;
  kernels::RoundSteps steps_;

  std::vector<std::vector<double>> trajectory_;         ///< y'_0 ... y'_{K+1}, [K + 2][m]
  std::vector<double> upper_objective_gradient_;        ///< grad_x G_i, on the support
  std::vector<double> gradient_, hessian_product_;      ///< [m]
  std::vector<double> cross_product_, upper_gradient_;  ///< on the support
  std::vector<double> local_adjoint_, dual_adjoint_;    ///< [m]
};

}  // namespace adbo::detail
