#pragma once

#include <cstdint>
#include <span>

#include "adbo/options.h"
#include "adbo/state_archive.h"
#include "methods/synchronous/outer_point.h"
#include "methods/synchronous/solve_failure.h"
#include "methods/synchronous/step_sizes.h"
#include "methods/synchronous/synchronous_master.h"

namespace adbo::detail {

/// y <- y - step grad_y g(x, y), `count` times, one round each, with the mean lower objective.
class LowerDescent {
 public:
  explicit LowerDescent(Rounds& rounds) : rounds_(rounds), gradient_(rounds.problem().lower_dim()) {}
  void run(std::span<const double> upper, double step, std::int64_t count, std::span<double> lower);

 private:
  Rounds& rounds_;
  std::vector<double> gradient_;
};

/// What the centralized methods share: one iteration improves y, estimates dF/dx and takes a projected
/// gradient step of x. Nothing of an iteration that does not come to its end is kept.
class DescentMaster : public SynchronousMaster {
 public:
  /// Both must outlive the object.
  DescentMaster(const Problem& problem, const Options& options,
                StepCurvature curvature = StepCurvature::kMean);

  void fill(Snapshot& draft) override;
  /// ||x - P(x - d)||^2 with the estimate d of dF/dx that the last step went along.
  Measurement stationarity_gap(Transport&) override;
  [[nodiscard]] std::span<const double> upper_consensus() const override { return point_.upper; }
  [[nodiscard]] std::span<const double> lower_consensus() const override { return point_.lower; }
  void describe(TraceRecord& record) const override;
  void describe(Summary& summary) const override;
  void persist(StateArchive& archive) override {
    SynchronousMaster::persist(archive);
    archive(steps_, point_, has_gradient_, gap_, adjoint_residual_);
  }

 protected:
  /// Iteration t's work below and the estimate of dF/dx at point.upper, into the point: all but the step of
  /// x.
  virtual SolveFailure estimate(std::int64_t t, OuterPoint& point) = 0;

  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] const StepSizes& steps() const { return steps_; }
  /// -1: the method solves no linear systems.
  double adjoint_residual_ = -1;

 private:
  Outcome iterate(std::int64_t t) final;
  [[nodiscard]] double projected_squared_norm() const;

  const Options& options_;
  StepSizes steps_;
  OuterPoint point_;  ///< after the last complete iteration
  OuterPoint trial_;  ///< of the iteration in progress
  bool has_gradient_ = false;
  double gap_ = 0;
};

}  // namespace adbo::detail
