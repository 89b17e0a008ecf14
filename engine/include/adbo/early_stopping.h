#pragma once
// Stopping where data that the run does not learn from stops gaining.

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "adbo/observer.h"
#include "adbo/problems/hyper_cleaning.h"
#include "adbo/solver.h"
#include "adbo/state_archive.h"

namespace adbo {

/// What a state loses on held-out data; smaller is better, NaN is never the best.
struct HeldOutValue {
  double loss = 0;
  double standard_error = 0;  ///< of the loss, as an estimate from the held-out rows; 0: it is exact

  void persist(StateArchive& archive) { archive(loss, standard_error); }
};
/// Of a state (v [n], z [m]).
using HeldOutLoss = std::function<HeldOutValue(std::span<const double> upper, std::span<const double> lower)>;

struct EarlyStoppingOptions {
  std::int64_t interval =
      5;  ///< iterations from one evaluation to the next, >= 1; the start is evaluated too
  std::int64_t patience = 0;  ///< iterations without a new best loss that end the run; 0: never
};

/// Evaluates the states of a run, chooses one, and asks for the end of the run when the smallest loss has not
/// fallen for `patience` iterations. A later state is chosen in place of an earlier one when its loss is
/// smaller by more than the earlier one's standard error: of states that the held-out data cannot tell apart
/// the earliest has fitted the least to chance. Without standard errors that is the smallest loss, and of
/// equal losses the earliest.
///
/// With few validation rows an upper variable that is optimal for them fits their chance: the loss on rows
/// held out of the upper objective first falls with it and then rises again.
///
/// Called by the master thread; the loss is evaluated there. As deterministic as the loss and the run.
class EarlyStopping final : public Observer {
 public:
  static constexpr double kNotEvaluated = std::numeric_limits<double>::quiet_NaN();

  /// `inner` (may be null; has to outlive this) sees every iteration after it has been evaluated, and its
  /// wish to end is obeyed. Throws std::invalid_argument without a loss or for an option outside its range.
  EarlyStopping(HeldOutLoss loss, EarlyStoppingOptions options, Observer* inner = nullptr);

  ObserverAction on_iteration(const IterationView& view) override;
  void on_waiting(std::size_t worker, double seconds) override;
  void on_dropped(const DroppedWorker& worker) override;
  /// Its own state, then the inner observer's.
  void persist(StateArchive& archive) override;
  /// Out of patience is the end, also of a run that was interrupted between it and what was to follow.
  [[nodiscard]] bool has_ended() const override {
    return gave_up_ || (inner_ != nullptr && inner_->has_ended());
  }

  /// The state to deliver, after solve(): evaluates the last state unless that is done, then puts the chosen
  /// state into `result` and mends summary.upper_change_max. Where the lack of progress ended the run,
  /// summary.message says so; the termination stays kStopped, because a loss that no longer falls is no proof
  /// of stationarity. Without any finite loss `result` keeps its last state.
  void deliver(Result& result);

  [[nodiscard]] bool has_chosen() const { return chosen_iteration_ >= 0; }
  [[nodiscard]] std::int64_t chosen_iteration() const { return chosen_iteration_; }  ///< -1: none yet
  [[nodiscard]] double chosen_loss() const { return chosen_.loss; }
  [[nodiscard]] double smallest_loss() const { return smallest_loss_; }
  [[nodiscard]] double first_loss() const { return first_loss_; }  ///< at the start
  /// Of the last on_iteration(); kNotEvaluated where none was due.
  [[nodiscard]] double last_loss() const { return last_loss_; }
  /// Whether it was the lack of progress that ended the run.
  [[nodiscard]] bool gave_up() const { return gave_up_; }
  [[nodiscard]] std::span<const double> chosen_upper() const { return chosen_upper_; }
  [[nodiscard]] std::span<const double> chosen_lower() const { return chosen_lower_; }

 private:
  void evaluate(std::int64_t iteration, std::span<const double> upper, std::span<const double> lower);
  [[nodiscard]] bool out_of_patience(std::int64_t iteration) const;

  HeldOutLoss loss_;
  EarlyStoppingOptions options_;
  Observer* inner_;
  std::vector<double> start_upper_, chosen_upper_, chosen_lower_;
  std::int64_t evaluated_iteration_ = -1, smallest_iteration_ = -1, chosen_iteration_ = -1;
  double first_loss_ = kNotEvaluated, last_loss_ = kNotEvaluated;
  double smallest_loss_ = std::numeric_limits<double>::infinity();
  HeldOutValue chosen_{.loss = std::numeric_limits<double>::infinity()};
  bool gave_up_ = false;
};

/// The mean cross-entropy of the softmax regression z on these rows with its standard error, computed by the
/// calling thread alone. Throws std::invalid_argument when there is no row or a label is outside [0,
/// classes).
[[nodiscard]] HeldOutLoss softmax_held_out_loss(const LabelledRows& rows, int classes);

}  // namespace adbo
