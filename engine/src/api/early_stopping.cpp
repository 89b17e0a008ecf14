#include "adbo/early_stopping.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "protocol/vector_math.h"

namespace adbo {

EarlyStopping::EarlyStopping(HeldOutLoss loss, EarlyStoppingOptions options, Observer* inner)
    : loss_(std::move(loss)), options_(options), inner_(inner) {
  if (!loss_) throw std::invalid_argument("early stopping: no loss");
  if (options_.interval < 1) {
    throw std::invalid_argument("early stopping: interval = " + std::to_string(options_.interval) +
                                ", expected at least 1");
  }
  if (options_.patience < 0) {
    throw std::invalid_argument("early stopping: patience = " + std::to_string(options_.patience) +
                                ", expected at least 0");
  }
}

ObserverAction EarlyStopping::on_iteration(const IterationView& view) {
  const std::int64_t iteration = view.record.iteration;
  if (start_upper_.empty()) start_upper_.assign(view.upper.begin(), view.upper.end());
  last_loss_ = kNotEvaluated;
  const bool due = iteration % options_.interval == 0;
  if (due) evaluate(iteration, view.upper, view.lower);
  const ObserverAction asked = inner_ != nullptr ? inner_->on_iteration(view) : ObserverAction::kContinue;
  if (asked != ObserverAction::kContinue) return asked;
  // Between two evaluations nothing is known of the loss.
  gave_up_ = due && out_of_patience(iteration);
  return gave_up_ ? ObserverAction::kStop : ObserverAction::kContinue;
}

void EarlyStopping::on_waiting(std::size_t worker, double seconds) {
  if (inner_ != nullptr) inner_->on_waiting(worker, seconds);
}

void EarlyStopping::on_dropped(const DroppedWorker& worker) {
  if (inner_ != nullptr) inner_->on_dropped(worker);
}

void EarlyStopping::persist(StateArchive& archive) {
  archive.sized(start_upper_, chosen_upper_, chosen_lower_);
  archive(evaluated_iteration_, smallest_iteration_, chosen_iteration_, first_loss_, last_loss_,
          smallest_loss_, chosen_, gave_up_);
  if (inner_ != nullptr) inner_->persist(archive);
}

void EarlyStopping::evaluate(std::int64_t iteration, std::span<const double> upper,
                             std::span<const double> lower) {
  const HeldOutValue value = loss_(upper, lower);
  last_loss_ = value.loss;
  if (evaluated_iteration_ < 0) first_loss_ = last_loss_;
  evaluated_iteration_ = iteration;
  // Both comparisons are written so that a loss that is not a number is not smaller.
  if (value.loss < smallest_loss_) {
    smallest_loss_ = value.loss;
    smallest_iteration_ = iteration;
  }
  const double error = has_chosen() ? chosen_.standard_error : 0;
  if (!(value.loss < chosen_.loss - error)) return;
  chosen_ = value;
  chosen_iteration_ = iteration;
  chosen_upper_.assign(upper.begin(), upper.end());
  chosen_lower_.assign(lower.begin(), lower.end());
}

bool EarlyStopping::out_of_patience(std::int64_t iteration) const {
  if (options_.patience == 0) return false;
  return iteration - std::max<std::int64_t>(smallest_iteration_, 0) >= options_.patience;
}

void EarlyStopping::deliver(Result& result) {
  if (result.summary.iterations > evaluated_iteration_) {
    evaluate(result.summary.iterations, result.upper, result.lower);
  }
  if (gave_up_) {
    result.summary.message = "the held-out loss has not fallen for " + std::to_string(options_.patience) +
                             " iterations (patience)";
  }
  if (!has_chosen()) return;
  result.upper = chosen_upper_;
  result.lower = chosen_lower_;
  result.summary.upper_change_max = detail::largest_difference(chosen_upper_, start_upper_);
}

}  // namespace adbo
