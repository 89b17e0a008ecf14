#include "execution/run_observer.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

namespace adbo::app {

void BestMeasures::note(const std::optional<ModelScore>& test,
                        const std::optional<ResolvedMeasures>& resolved) {
  // fmax and fmin ignore what was not measured.
  if (test) {
    test_accuracy = std::fmax(test_accuracy, test->accuracy);
    test_loss = std::fmin(test_loss, test->loss);
  }
  if (resolved) {
    value_function = std::fmin(value_function, resolved->value_function);
    if (resolved->test_accuracy) {
      test_accuracy_retrained = std::fmax(test_accuracy_retrained, *resolved->test_accuracy);
    }
  }
}

RunObserver::RunObserver(TraceCsv& trace, Progress& progress, const Console& console, const StopSignal& stop,
                         const RunMeasures& measures, std::int64_t evaluate_every, std::int64_t iterations)
    : trace_(trace),
      progress_(progress),
      console_(console),
      stop_(stop),
      measures_(measures),
      evaluate_every_(evaluate_every),
      iterations_(iterations) {}

bool RunObserver::test_is_due(std::int64_t iteration) const {
  return measures_.test && (iteration % evaluate_every_ == 0 || iteration == iterations_);
}

void RunObserver::on_waiting(std::size_t worker, double seconds) {
  console_.note(fmt::format("waiting for worker {} for {:.0f} s", worker, seconds));
}

void RunObserver::on_dropped(const DroppedWorker& worker) {
  console_.note(
      fmt::format("worker {} is dropped at iteration {}: {}", worker.worker, worker.iteration, worker.why));
}

void RunObserver::persist(StateArchive& archive) {
  io::Extent trace = archive.is_loading() ? io::Extent() : trace_.flushed();
  archive(best_, trace);
  if (measures_.resolver != nullptr) measures_.resolver->persist(archive);
  if (!archive.is_loading()) return;
  if (when_loaded_) when_loaded_();
  trace_found_ = trace_.continue_at(trace);
}

ObserverAction RunObserver::on_iteration(const IterationView& view) {
  // First, for it alone can be given up, and then nothing is to be left of this call.
  std::optional<ResolvedMeasures> resolved;
  if (measures_.resolver != nullptr) {
    try {
      resolved = measures_.resolver->at(view.record.iteration, view.upper, [&] {
        return is_signalled() || (view.is_interrupted && view.is_interrupted());
      });
    } catch (const GivenUp&) {
      return ObserverAction::kInterrupted;
    }
  }
  std::optional<ModelScore> test;
  if (test_is_due(view.record.iteration)) test = measures_.test(view.lower);
  best_.note(test, resolved);
  trace_.add(view.record, test,
             early_stopping_ != nullptr ? early_stopping_->last_loss() : EarlyStopping::kNotEvaluated,
             resolved);
  progress_.update(view.record, test ? std::optional(test->accuracy) : std::nullopt);
  return is_signalled() ? ObserverAction::kStop : ObserverAction::kContinue;
}

}  // namespace adbo::app
