#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "adbo/options.h"
#include "adbo/problem.h"
#include "adbo/state_archive.h"
#include "methods/cuts/cut_pool.h"
#include "methods/cuts/nonnegative_qp.h"
#include "methods/implicit_cuts/cut_model.h"
#include "methods/running_estimates/adjoint_damping.h"
#include "methods/running_estimates/running_estimates.h"
#include "methods/running_estimates/upper_step.h"
#include "protocol/method.h"

namespace adbo::detail {

/// ADBO with implicit cuts (docs/practical-cuts.md): v, z, lambda and the cuts. A cut is formed from the
/// table of the workers' latest contributions: nobody waits for all of them. z and the copies are kept as
/// what they are apart from y-hat, d = z - y-hat and d_i = y_i - y-hat: when y-hat follows v they are carried
/// along. With eliminated copies y_i = z, and the upper objective is the workers' mean; with local ones it is
/// their sum, as in the paper.
class ImplicitMaster final : public MethodMaster {
 public:
  /// `options` are resolved. Both must outlive the object. `pool` also serves the transport's snapshots; its
  /// cuts have blocks b_i where the copies are local, none otherwise.
  ImplicitMaster(const Problem& problem, const Options& options, std::shared_ptr<CutPool> pool);

  void fill(Snapshot& draft) override;
  void fill_step(Request&, std::size_t) const override {}
  void step(std::int64_t t, std::span<const std::size_t> active, const WorkerStates& states) override;
  Outcome collective(std::int64_t, std::span<const std::size_t>, Transport&) override { return {}; }
  /// ||sum_l lambda_l a_l + grad_x G||^2 + ||grad_y g||^2 + the squared residual of q, from the table.
  Measurement stationarity_gap(Transport&) override;
  /// The cuts, which speak of the sums with the worker, go.
  void drop(std::size_t worker) override;
  void set_workers(std::span<const std::size_t> workers) override {
    workers_.assign(workers.begin(), workers.end());
  }
  [[nodiscard]] std::span<const double> upper_consensus() const override { return upper_; }
  /// y-hat, the estimate of the lower solution.
  [[nodiscard]] std::span<const double> lower_consensus() const override { return estimates_.lower(); }
  void describe(TraceRecord& record) const override;
  void describe(Summary& summary) const override;
  void persist(StateArchive& archive) override {
    archive(cuts_, curvature_, upper_step_, estimates_, upper_, departure_, deviation_, objective_gradient_,
            objective_slope_, cross_, direction_, multiplier_, distance_, lag_, residual_, upper_objective_,
            lower_objective_, counts_);
  }

 private:
  void absorb(std::span<const std::size_t> active, const WorkerStates& states);
  void read_table(const WorkerStates& states);
  void measure_deviation(const WorkerStates& states);
  void improve_estimates(std::int64_t t, const WorkerStates& states);
  void choose_right_hand_side();
  void find_multipliers();
  void ascend_multipliers();
  void step_lower();
  void step_upper(std::int64_t t);
  void update_cuts(std::int64_t t, const WorkerStates& states);
  void build_cut(Cut& cut, const WorkerStates& states) const;
  [[nodiscard]] double level() const;
  [[nodiscard]] bool has_copies() const { return options_.lower_copies == LowerCopies::kLocal; }
  /// What the mean over the workers has to be multiplied by to become the upper objective.
  [[nodiscard]] double objective_factor() const;
  [[nodiscard]] double lower_step() const;

  const Problem& problem_;
  const Options& options_;
  std::shared_ptr<CutPool> pool_;
  std::vector<std::size_t> workers_;  ///< those not dropped, ascending
  CutModel cuts_;
  NonnegativeQp qp_;
  RunningEstimates estimates_;  ///< y-hat, and q for the right-hand side r / sqrt(h)
  AdjointDamping damping_;
  UpperStep upper_step_;
  double curvature_ = 0;  ///< L_y, the largest curvature seen along y of either objective

  std::vector<double> upper_;                       ///< v, [n]
  std::vector<double> departure_;                   ///< d = z - y-hat, [m]
  std::vector<double> deviation_;                   ///< r = sum_i d_i + d, [m]; as a right-hand side, scaled
  std::vector<double> objective_gradient_;          ///< the table's mean of grad_y G_i, [m]
  std::vector<double> objective_slope_;             ///< the table's mean of grad_x G_i, [n]
  std::vector<double> cross_;                       ///< the table's mean of (d2 g_i/dx dy) q, [n]
  std::vector<double> direction_;                   ///< of v: sum_l lambda_l a_l + grad_x G, [n]
  std::vector<double> gram_, linear_, multiplier_;  ///< of the quadratic program, [M * M], [M], [M]
  double distance_;                                 ///< h
  double lag_ = 0, residual_ = 0;
  double upper_objective_, lower_objective_;
  Counts counts_;
};

}  // namespace adbo::detail
