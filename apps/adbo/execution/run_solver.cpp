#include "execution/run_solver.h"

#include <algorithm>

namespace adbo::app {
namespace {

constexpr std::int64_t kDefaultTests = 200;

/// Iterations from one evaluation of the held-out rows to the next. An iteration costs several passes over
/// the training rows of S workers, an evaluation half a pass over the held-out rows: at 5 it is below a tenth
/// of the run even where as many rows validate as train, and next to nothing where few do.
constexpr std::int64_t kHeldOutInterval = 5;

std::int64_t test_interval(const Settings& settings) {
  const std::int64_t given = settings.task().evaluate_every;
  return given > 0 ? given : std::max<std::int64_t>(1, settings.options().iterations / kDefaultTests);
}

/// Detaches the solver before it dies, exceptions included.
class Attachment {
 public:
  Attachment(StopSignal& stop, Solver& solver) : stop_(stop) { stop_.attach(&solver); }
  ~Attachment() { stop_.attach(nullptr); }
  Attachment(const Attachment&) = delete;
  Attachment& operator=(const Attachment&) = delete;

 private:
  StopSignal& stop_;
};

}  // namespace

RunOutcome run_solver(Problem& problem, const Settings& settings, const RunMeasures& measures,
                      const std::string& trace_path, StopSignal& stop, const Console& console) {
  const std::int64_t iterations = settings.options().iterations;
  TraceCsv trace(trace_path);
  Progress progress(console, settings.task().progress, iterations);
  RunObserver observer(trace, progress, stop, measures, test_interval(settings), iterations);
  std::optional<EarlyStopping> early_stopping;
  if (measures.held_out) {
    early_stopping.emplace(
        measures.held_out,
        EarlyStoppingOptions{.interval = kHeldOutInterval, .patience = settings.task().patience}, &observer);
    observer.follow(*early_stopping);
  }

  Solver solver(settings.options());
  const Attachment attachment(stop, solver);
  RunOutcome outcome;
  outcome.result =
      solver.solve(problem, early_stopping ? static_cast<Observer*>(&*early_stopping) : &observer);
  progress.finish();
  trace.finish();
  if (early_stopping && outcome.result.status.ok()) {
    early_stopping->deliver(outcome.result);
    outcome.held_out = {early_stopping->chosen_iteration(), early_stopping->chosen_loss(),
                        early_stopping->first_loss()};
  }
  return outcome;
}

}  // namespace adbo::app
