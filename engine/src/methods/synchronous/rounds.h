#pragma once

#include <cstddef>
#include <exception>
#include <span>
#include <vector>

#include "adbo/problem.h"
#include "adbo/state_archive.h"
#include "adbo/summary.h"
#include "methods/synchronous/batch_sampler.h"
#include "protocol/method.h"

namespace adbo::detail {

/// A round did not give what it should: the run was interrupted, or a worker failed. It unwinds whatever
/// computation asked for the round, minimizers and linear solvers included.
class RoundEnded final : public std::exception {
 public:
  explicit RoundEnded(MethodMaster::Outcome outcome) : outcome_(std::move(outcome)) {}
  [[nodiscard]] const MethodMaster::Outcome& outcome() const { return outcome_; }
  /// A value at the point asked for was not finite: another point may do.
  [[nodiscard]] bool is_non_finite() const { return outcome_.incident && outcome_.incident->non_finite; }
  [[nodiscard]] const char* what() const noexcept override { return "a round with the workers ended early"; }

 private:
  MethodMaster::Outcome outcome_;
};

/// A point that lasts as long as this object, or until another is taken.
class PointCopy {
 public:
  EvaluationPoint take(const EvaluationPoint& point) {
    upper_.assign(point.upper.begin(), point.upper.end());
    lower_.assign(point.lower.begin(), point.lower.end());
    direction_.assign(point.direction.begin(), point.direction.end());
    return {.upper = upper_, .lower = lower_, .direction = direction_};
  }

 private:
  std::vector<double> upper_, lower_, direction_;
};

/// The master's half of every synchronous method: asks workers for evaluations, waits for all the answers,
/// and counts. A round takes the time of its slowest answer. Means are over the workers of the last round,
/// summed in worker order: the same bits for any number of threads.
class Rounds {
 public:
  /// `problem` must outlive the object.
  explicit Rounds(const Problem& problem);
  /// To be called before the first round, and before each that follows on another transport.
  void attach(Transport& transport) { transport_ = &transport; }

  // Points and corrections have to stay as they are until the call returns; workers read copies, for a round
  // that is interrupted may leave some of them computing, and unwinds what asked for it.

  /// Asks every worker, or those given (ascending). Throws RoundEnded, as all that ask do.
  void ask(const Wanted& wanted, const EvaluationPoint& point) { ask(wanted, point, everyone_); }
  void ask(const Wanted& wanted, const EvaluationPoint& point, std::span<const std::size_t> workers);
  /// Asks every worker for estimates from the mini-batches of the draws; which ones `sampler` also says.
  void ask(const Wanted& wanted, const EvaluationPoint& point, const BatchSampler& sampler,
           const BatchDraws& draws);

  /// Asks every worker for FedNest's local steps from the point.
  void ask_local_steps(const LocalSteps& local, const EvaluationPoint& point);
  /// Asks every worker at a point of its own (one per worker), as agents of a network without a master
  /// evaluate: counts the work and the round, but no messages: see count_exchange(). `sampler` may be null.
  void ask_agents(const Wanted& wanted, std::span<const EvaluationPoint> points, const BatchSampler* sampler,
                  const BatchDraws& draws);
  /// Counts what an exchange with all neighbours sends over the edges of a network: `numbers` in both
  /// directions of each.
  void count_exchange(std::size_t edges, std::size_t numbers);

  [[nodiscard]] const Evaluation& answer(std::size_t worker) const {
    return transport_->reply(worker).evaluation;
  }
  [[nodiscard]] double mean(double Evaluation::*value) const;
  /// out [size of the member].
  void mean(std::vector<double> Evaluation::*vector, std::span<double> out) const;
  /// Of vectors on the workers' supports; a worker whose vector is empty contributes zeros. out [n].
  void mean_on_supports(std::vector<double> Evaluation::*vector, std::span<double> out) const;

  /// The workers of the last round, ascending.
  [[nodiscard]] std::span<const std::size_t> asked() const { return asked_; }

  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] const Counts& counts() const { return counts_; }
  /// Seconds of the run that rounds took.
  [[nodiscard]] double seconds() const { return seconds_; }
  void persist(StateArchive& archive) { archive(counts_, seconds_); }

 private:
  void ask(const Wanted& wanted, const EvaluationPoint& point, std::span<const std::size_t> workers,
           const BatchSampler* sampler, const BatchDraws& draws);
  void prepare(std::size_t worker, const Wanted& wanted, const EvaluationPoint& point,
               const BatchSampler* sampler, const BatchDraws& draws);
  /// Those of `workers` that are not dropped will be asked.
  void choose(std::span<const std::size_t> workers);
  void exchange();
  void inspect(bool complete) const;
  void count_messages();
  void count_bytes(const Wanted& wanted);
  [[nodiscard]] std::size_t numbers_sent(const Wanted& wanted, std::size_t worker) const;

  const Problem& problem_;
  Transport* transport_ = nullptr;
  std::vector<std::size_t> everyone_, asked_;
  PointCopy common_point_;             ///< what the workers of the last round evaluate at, ...
  std::vector<PointCopy> own_points_;  ///< ... or each of them, [N]; empty before the first such round
  std::vector<double> correction_;     ///< of its local steps
  Counts counts_;
  double seconds_ = 0;
};

}  // namespace adbo::detail
