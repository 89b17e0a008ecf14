#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "adbo/options.h"
#include "adbo/state_archive.h"
#include "methods/exact/box_quasi_newton.h"
#include "methods/exact/implicit_function.h"
#include "methods/synchronous/synchronous_master.h"

namespace adbo::detail {

/// The reference method (docs/exact.md): L-BFGS within the upper variable's box on F(v) = (1/N) sum_i
/// G_i(v, y*(v)), the lower level solved and differentiated exactly at every point. One iteration is one
/// accepted step. It allocates as it goes: it is a yardstick, not a hot path.
class ExactMaster final : public SynchronousMaster {
 public:
  ExactMaster(const Problem& problem, const Options& options);

  void fill(Snapshot& draft) override;
  /// ||v - P(v - dF/dv)||^2.
  Measurement stationarity_gap(Transport&) override;
  [[nodiscard]] std::span<const double> upper_consensus() const override { return point_.upper; }
  [[nodiscard]] std::span<const double> lower_consensus() const override { return point_.lower; }
  using SynchronousMaster::describe;
  void describe(TraceRecord& record) const override;
  void persist(StateArchive& archive) override {
    SynchronousMaster::persist(archive);
    archive(function_, quasi_newton_, point_, step_, is_evaluated_);
  }

 private:
  Outcome iterate(std::int64_t t) override;
  [[nodiscard]] double projected_norm(const OuterPoint& point) const;
  [[nodiscard]] bool is_converged() const;
  [[nodiscard]] Ending why_stuck(std::int64_t t) const;
  SolveFailure evaluate_start();
  bool descend();
  bool backtrack();
  void expand();
  bool try_step(double step, OuterPoint& trial);
  [[nodiscard]] double slope_along(const OuterPoint& to, std::span<const double> gradient) const;
  [[nodiscard]] bool is_enough(const OuterPoint& trial, double noise);
  void accept_trial();

  const Options& options_;
  ImplicitFunction function_;
  BoxQuasiNewton quasi_newton_;
  OuterPoint point_;               ///< the iterate; after the first iteration with value and gradient
  OuterPoint trial_, next_trial_;  ///< of the line search
  std::vector<double> direction_;  ///< [n]
  double step_ = 0;                ///< at trial_
  bool is_evaluated_ = false;
  SolveFailure refusal_;  ///< why the last step that was refused had no value
};

}  // namespace adbo::detail
