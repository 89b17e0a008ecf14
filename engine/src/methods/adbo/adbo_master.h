#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "adbo/options.h"
#include "adbo/problem.h"
#include "adbo/state_archive.h"
#include "methods/adbo/adbo_settings.h"
#include "methods/adbo/polytope.h"
#include "methods/adbo/polytope_update.h"
#include "protocol/method.h"

namespace adbo::detail {

/// The master's half of ADBO: v, z, lambda, theta and the polytope; new_27 to new_30. SDBO is its S = N.
class AdboMaster final : public MethodMaster {
 public:
  /// `options` are resolved. Both must outlive the object. `pool` also serves the transport's snapshots.
  AdboMaster(const Problem& problem, const Options& options, std::shared_ptr<CutPool> pool);

  void fill(Snapshot& draft) override;
  void fill_step(Request& request, std::size_t worker) const override;
  void step(std::int64_t t, std::span<const std::size_t> active, const WorkerStates& states) override;
  Outcome collective(std::int64_t t, std::span<const std::size_t> active, Transport& transport) override;
  Measurement stationarity_gap(Transport& transport) override;
  /// Its dual and its G_i go, and the cuts, which speak of the sums with the worker.
  void drop(std::size_t worker) override;
  void set_workers(std::span<const std::size_t> workers) override {
    workers_.assign(workers.begin(), workers.end());
  }
  [[nodiscard]] std::span<const double> upper_consensus() const override { return upper_consensus_; }
  [[nodiscard]] std::span<const double> lower_consensus() const override { return lower_consensus_; }
  void describe(TraceRecord& record) const override;
  void describe(Summary& summary) const override;

  [[nodiscard]] const Polytope& polytope() const { return polytope_; }
  void persist(StateArchive& archive) override {
    archive(polytope_, upper_consensus_, lower_consensus_, consensus_dual_, consensus_dual_sum_, upper_value_,
            steps_since_resum_, lower_objective_, lower_distance_, barrier_seconds_, counts_);
  }

 private:
  void absorb(std::span<const std::size_t> active, const WorkerStates& states);
  void step_upper_consensus();
  void step_lower_consensus();
  void step_multipliers(std::int64_t t);
  void step_consensus_duals(std::int64_t t, std::span<const std::size_t> active, const WorkerStates& states);
  void resum_consensus_duals();
  [[nodiscard]] double cut_value(std::size_t l) const;
  [[nodiscard]] double consensus_gap(const WorkerStates& states) const;
  [[nodiscard]] std::int64_t message_bytes() const;

  const Problem& problem_;
  const Options& options_;
  std::shared_ptr<CutPool> pool_;
  std::vector<LocalUpper> local_;
  std::vector<std::size_t> workers_;  ///< those not dropped, ascending
  Polytope polytope_;
  PolytopeUpdate update_;

  std::vector<double> upper_consensus_;              ///< v, [n]
  std::vector<double> lower_consensus_;              ///< z, [m]
  std::vector<std::vector<double>> consensus_dual_;  ///< theta_i, [N][n_i]
  std::vector<double> consensus_dual_sum_;           ///< sum_i theta_i, [n]; empty where eliminated
  std::vector<double> gradient_;                     ///< scratch, [max(n, m)]
  std::vector<double> local_products_;               ///< b_i . y_i of the cut under construction, [N]
  std::vector<double> upper_value_;                  ///< G_i as last heard, NaN before, [N]
  std::int64_t steps_since_resum_ = 0;
  double lower_objective_, lower_distance_;  ///< of the last polytope update, NaN before
  double barrier_seconds_ = 0;
  Counts counts_;
};

}  // namespace adbo::detail
