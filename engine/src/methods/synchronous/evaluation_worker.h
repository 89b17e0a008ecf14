#pragma once

#include <cstddef>

#include "adbo/problem.h"
#include "protocol/worker.h"

namespace adbo::detail {

/// The worker's half of every synchronous method: it keeps no state, and evaluates what it is asked for at
/// the point of the request, from the batches of the request.
class EvaluationWorker final : public WorkerProgram {
 public:
  /// `problem` must outlive the object. `curvature_size`: b of the curvature blocks that the method asks for,
  /// 0 where it asks for none (they may be large).
  EvaluationWorker(const Problem& problem, std::size_t index, std::size_t curvature_size);

  /// Synchronous methods ask for no steps.
  void step(const Request&, const Snapshot&, const UpdateMessage&, UpdateMessage&) override {}
  /// Throws NonFinite where a wanted value is not finite.
  void round(const Request& request, const Snapshot&, const UpdateMessage&, RoundMessage& out) override;
  void size(UpdateMessage&) const override {}
  void size(RoundMessage& message) const override;
  void fill_start(UpdateMessage&) const override {}

 private:
  double evaluate_upper(const Request& request, std::span<const double> x, std::span<const double> y,
                        Evaluation& out);
  double evaluate_lower(const Request& request, std::span<const double> x, std::span<const double> y,
                        Evaluation& out);

  WorkerObjective& objective_;
  UpperSupport support_;
  std::size_t lower_dim_, curvature_size_;
};

}  // namespace adbo::detail
