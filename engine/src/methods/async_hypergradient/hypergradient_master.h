#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "adbo/options.h"
#include "adbo/problem.h"
#include "adbo/state_archive.h"
#include "methods/running_estimates/adjoint_damping.h"
#include "methods/running_estimates/running_estimates.h"
#include "methods/running_estimates/upper_step.h"
#include "protocol/method.h"

namespace adbo::detail {

/// The asynchronous hypergradient (docs/practical.md). Keeps running estimates y-hat of the lower solution
/// y*(v) and q of (sum_i d2 g_i/dy dy)^-1 sum_i grad_y G_i, and moves v along grad_x G - (d2 g/dx dy) q, all
/// from the table of the workers' latest contributions, which are their accepted states.
///
/// Where every coordinate of v belongs to one worker, the upper consensus that is reported and delivered is
/// the mean of v over its steps: the steps' noise, which differs from row to row, averages out.
class HypergradientMaster final : public MethodMaster {
 public:
  HypergradientMaster(const Problem& problem, const Options& options);

  void fill(Snapshot& draft) override;
  void fill_step(Request&, std::size_t) const override {}
  void step(std::int64_t t, std::span<const std::size_t> active, const WorkerStates& states) override;
  Outcome collective(std::int64_t, std::span<const std::size_t>, Transport&) override { return {}; }
  Measurement stationarity_gap(Transport&) override;
  void drop(std::size_t worker) override { estimates_.drop(worker); }
  [[nodiscard]] std::span<const double> upper_consensus() const override {
    return averages_ ? average_ : upper_;
  }
  [[nodiscard]] std::span<const double> lower_consensus() const override { return estimates_.lower(); }
  void describe(TraceRecord& record) const override;
  void describe(Summary& summary) const override;
  void persist(StateArchive& archive) override {
    archive(estimates_, upper_step_, upper_, average_, steps_averaged_, upper_objective_gradient_, direction_,
            upper_objective_, lower_objective_, gap_, counts_);
  }

 private:
  void update_average();
  void count(std::span<const std::size_t> active, const WorkerStates& states);

  const Problem& problem_;
  RunningEstimates estimates_;  ///< y-hat, and q for the right-hand side (1/N) sum_i grad_y G_i
  AdjointDamping damping_;
  UpperStep upper_step_;

  std::vector<double> upper_;    ///< v, [n]
  bool averages_;                ///< the mean of v over its steps is the result, not v
  std::vector<double> average_;  ///< that mean, [n]; empty where it is not the result
  std::int64_t steps_averaged_ = 0;
  std::vector<double> upper_objective_gradient_;  ///< the table's mean of grad_y G_i, [m]
  std::vector<double> direction_;                 ///< the hypergradient's estimate, [n]
  double upper_objective_, lower_objective_;
  double gap_ = -1;
  Counts counts_;
};

}  // namespace adbo::detail
