#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "adbo/problem.h"
#include "protocol/worker.h"

namespace adbo::detail {

/// Most answers between two evaluations of a worker's curvature block: as many as keep its cost, rows b^2,
/// within that of the gradients, rows b per answer.
[[nodiscard]] std::int64_t curvature_interval(std::size_t block_size);

/// A worker of the asynchronous hypergradient (docs/practical.md): it works at the broadcast (v, y-hat, q)
/// and sends its whole contribution, which the master keeps until the next one.
class HypergradientWorker final : public WorkerProgram {
 public:
  HypergradientWorker(const Problem& problem, std::size_t index);

  void step(const Request& request, const Snapshot& snapshot, const UpdateMessage& previous,
            UpdateMessage& out) override;
  /// This method asks for steps alone.
  void round(const Request&, const Snapshot&, const UpdateMessage&, RoundMessage&) override {}
  void size(UpdateMessage& message) const override;
  void size(RoundMessage&) const override {}
  void fill_start(UpdateMessage& message) const override;

 private:
  /// Whether the block last sent is too old, or was made too far from x.
  [[nodiscard]] bool curvature_is_due(std::span<const double> x) const;

  WorkerObjective& objective_;
  UpperSupport support_;
  bool follows_upper_;  ///< the block depends on x by more than a bounded factor
  std::size_t lower_dim_, block_size_;
  std::int64_t answers_since_curvature_ = -1;  ///< -1: none was sent yet
  std::vector<double> curvature_upper_;        ///< x of the block last sent
  std::vector<double> upper_gradient_;  ///< grad_x G_i, on the support; empty where G_i does not depend on x
};

}  // namespace adbo::detail
