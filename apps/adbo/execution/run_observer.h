#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "adbo/early_stopping.h"
#include "adbo/observer.h"
#include "execution/periodic_resolve.h"
#include "execution/progress.h"
#include "execution/stop_signal.h"
#include "output/trace_csv.h"
#include "support/console.h"

namespace adbo::app {

/// What is measured while a run goes on.
struct RunMeasures {
  TestScore test;        ///< of the consensus model; changes nothing; empty without test rows
  HeldOutLoss held_out;  ///< decides what is delivered and when the run ends; empty without held-out rows
  std::shared_ptr<PeriodicResolve> resolver;  ///< changes nothing; null unless resolve_every asks for it
};

/// The best value of what was measured along a run; NaN: never measured.
struct BestMeasures {
  static constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();
  double test_accuracy = kNotMeasured, test_loss = kNotMeasured;  ///< of the consensus model
  double value_function = kNotMeasured, test_accuracy_retrained = kNotMeasured;

  void note(const std::optional<ModelScore>& test, const std::optional<ResolvedMeasures>& resolved);
  void persist(StateArchive& archive) {
    archive(test_accuracy, test_loss, value_function, test_accuracy_retrained);
  }
};

/// Writes the trace, tests the consensus model now and then, shows progress, and stops the run on a signal.
/// Its time is not the run's.
class RunObserver final : public Observer {
 public:
  /// Tests at iterations 0, evaluate_every, 2 evaluate_every, ... and at `iterations`; evaluate_every >= 1.
  RunObserver(TraceCsv& trace, Progress& progress, const Console& console, const StopSignal& stop,
              const RunMeasures& measures, std::int64_t evaluate_every, std::int64_t iterations);

  /// Traces the held-out loss too; `early_stopping` calls this observer.
  void follow(const EarlyStopping& early_stopping) { early_stopping_ = &early_stopping; }

  /// Once the checkpoint that the run goes on from has been loaded; may be empty.
  void call_when_loaded(std::function<void()> when_loaded) { when_loaded_ = std::move(when_loaded); }

  ObserverAction on_iteration(const IterationView& view) override;
  void on_waiting(std::size_t worker, double seconds) override;
  void on_dropped(const DroppedWorker& worker) override;
  /// Loading cuts the trace to what it was.
  void persist(StateArchive& archive) override;
  /// How the trace was found by the checkpoint that the run goes on from.
  [[nodiscard]] io::Continuation trace_found() const { return trace_found_; }
  [[nodiscard]] const BestMeasures& best() const { return best_; }

 private:
  [[nodiscard]] bool test_is_due(std::int64_t iteration) const;
  /// Also by a signal that came before the solver listened.
  [[nodiscard]] bool is_signalled() const { return stop_.received() != 0; }

  TraceCsv& trace_;
  Progress& progress_;
  const Console& console_;
  const StopSignal& stop_;
  const RunMeasures& measures_;
  std::int64_t evaluate_every_;
  std::int64_t iterations_;
  const EarlyStopping* early_stopping_ = nullptr;
  std::function<void()> when_loaded_;
  BestMeasures best_;
  io::Continuation trace_found_ = io::Continuation::kWhole;
};

}  // namespace adbo::app
