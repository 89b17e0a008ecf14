#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "methods/synchronous/batch_sampler.h"
#include "methods/synchronous/evaluation_worker.h"

namespace adbo::detail {

/// The worker's half of FedNest: evaluations, and local steps of y or x with its own objective. It keeps no
/// state between requests.
class FedNestWorker final : public WorkerProgram {
 public:
  /// `problem` must outlive the object.
  FedNestWorker(const Problem& problem, std::size_t index,
                const std::shared_ptr<const BatchSampler>& sampler);

  void step(const Request&, const Snapshot&, const UpdateMessage&, UpdateMessage&) override {}
  /// Throws NonFinite where a local step leaves the finite numbers.
  void round(const Request& request, const Snapshot&, const UpdateMessage&, RoundMessage& out) override;
  void size(UpdateMessage&) const override {}
  void size(RoundMessage& message) const override;
  void fill_start(UpdateMessage&) const override {}

 private:
  void step_lower(const Request& request, RoundMessage& out);
  void step_upper(const Request& request, RoundMessage& out);
  void step_upper_alone(const Request& request, RoundMessage& out);
  void lower_gradient(const Batch& batch, std::span<const double> x, std::span<const double> y,
                      std::span<double> out, WorkCounts& work);
  void upper_slope(const Batch& batch, std::span<const double> x, std::span<const double> y,
                   std::span<double> out, WorkCounts& work);
  /// The worker's own hypergradient at (x, y) into direction_x_.
  void local_hypergradient(const LocalSteps& local, std::uint64_t draw, std::span<const double> x,
                           std::span<const double> y, WorkCounts& work);

  WorkerObjective& objective_;
  std::size_t index_;
  UpperSupport support_;
  bool has_slope_;  ///< G_i depends on x
  std::shared_ptr<const BatchSampler> sampler_;
  EvaluationWorker evaluations_;
  std::vector<double> gradient_, start_gradient_, adjoint_, product_;  ///< [m]
  std::vector<double> slope_, start_slope_;                            ///< [support], or empty
  std::vector<double> cross_, direction_x_;                            ///< [support]
};

}  // namespace adbo::detail
