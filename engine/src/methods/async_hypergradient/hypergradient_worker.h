#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "adbo/problem.h"
#include "adbo/state_archive.h"
#include "methods/running_estimates/curvature_schedule.h"
#include "methods/running_estimates/data_contribution.h"
#include "protocol/worker.h"

namespace adbo::detail {

/// A worker of the asynchronous hypergradient (docs/practical.md): it works at the broadcast (v, y-hat, q)
/// and sends its whole contribution, which the master keeps until the next one.
class HypergradientWorker final : public WorkerProgram {
 public:
  HypergradientWorker(const Problem& problem, std::size_t index, const CurvaturePlan& plan);

  void step(const Request& request, const Snapshot& snapshot, const UpdateMessage& previous,
            UpdateMessage& out) override;
  /// This method asks for steps alone.
  void round(const Request&, const Snapshot&, const UpdateMessage&, RoundMessage&) override {}
  void size(UpdateMessage& message) const override;
  void size(RoundMessage&) const override {}
  void fill_start(UpdateMessage& message) const override;
  void persist(StateArchive& archive) override { archive(curvature_, data_); }

 private:
  WorkerObjective& objective_;
  UpperSupport support_;
  std::size_t lower_dim_;
  CurvatureSchedule curvature_;
  DataContribution data_;
  std::vector<double> upper_gradient_;  ///< grad_x G_i, on the support; empty where G_i does not depend on x
};

}  // namespace adbo::detail
