#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "adbo/options.h"
#include "adbo/problem.h"
#include "adbo/state_archive.h"
#include "methods/running_estimates/curvature_schedule.h"
#include "protocol/worker.h"

namespace adbo::detail {

/// A worker of ADBO with implicit cuts (docs/practical-cuts.md): it takes its step of d_i = y_i - y-hat
/// against the cuts of its last broadcast (new_26), unless the copies are eliminated, and sends in the same
/// message what the running estimates need at the broadcast (v, y-hat, q). x_i is eliminated: the worker
/// sends grad_x G_i at v.
class ImplicitWorker final : public WorkerProgram {
 public:
  ImplicitWorker(const Problem& problem, std::size_t index, const CurvaturePlan& plan,
                 const Options& options);

  void step(const Request& request, const Snapshot& snapshot, const UpdateMessage& previous,
            UpdateMessage& out) override;
  /// This method asks for steps alone.
  void round(const Request&, const Snapshot&, const UpdateMessage&, RoundMessage&) override {}
  void size(UpdateMessage& message) const override;
  void size(RoundMessage&) const override {}
  void fill_start(UpdateMessage& message) const override;
  void persist(StateArchive& archive) override { archive(curvature_, answers_, last_point_, last_gradient_); }

 private:
  void place_point(const Snapshot& snapshot, const UpdateMessage& previous);
  void step_lower(const Snapshot& snapshot, const UpdateMessage& previous, UpdateMessage& out) const;
  [[nodiscard]] double measure_curvature(std::span<const double> point, std::span<const double> gradient);

  WorkerObjective& objective_;
  const Options& options_;
  std::size_t index_;
  UpperSupport support_;
  std::size_t lower_dim_;
  CurvatureSchedule curvature_;
  bool has_copy_;  ///< of the lower variable
  std::int64_t answers_ = 0;
  std::vector<double> point_;                       ///< z or y_i before the step, [m]
  std::vector<double> last_point_, last_gradient_;  ///< y and grad_y G_i of the last answer, [m]
};

}  // namespace adbo::detail
