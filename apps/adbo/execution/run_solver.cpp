#include "execution/run_solver.h"

#include <algorithm>
#include <utility>

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

RunOutcome run_once(Problem& problem, const Options& options, const Settings& settings,
                    const RunMeasures& measures, const std::string& trace_path, StopSignal& stop,
                    const Console& console) {
  TraceCsv trace(trace_path);
  Progress progress(console, settings.task().progress, options.iterations);
  RunObserver observer(trace, progress, stop, measures, test_interval(settings), options.iterations);
  std::optional<EarlyStopping> early_stopping;
  if (measures.held_out) {
    early_stopping.emplace(
        measures.held_out,
        EarlyStoppingOptions{.interval = kHeldOutInterval, .patience = settings.task().patience}, &observer);
    observer.follow(*early_stopping);
  }

  Solver solver(options);
  const Attachment attachment(stop, solver);
  RunOutcome outcome;
  outcome.result =
      solver.solve(problem, early_stopping ? static_cast<Observer*>(&*early_stopping) : &observer);
  progress.finish();
  trace.finish();
  outcome.best = observer.best();
  if (early_stopping && outcome.result.status.ok()) {
    early_stopping->deliver(outcome.result);
    outcome.held_out = HeldOutFacts{.delivered_iteration = early_stopping->chosen_iteration(),
                                    .loss = early_stopping->chosen_loss(),
                                    .loss_start = early_stopping->first_loss()};
  }
  return outcome;
}

/// A run that was ended from outside, or by its own failure, is not repeated.
bool was_cut_short(const Summary& summary, const StopSignal& stop) {
  if (stop.received() != 0) return true;
  return summary.termination != Termination::kIterationLimit &&
         summary.termination != Termination::kConverged && summary.termination != Termination::kStopped;
}

}  // namespace

RunOutcome run_solver(Problem& problem, const Settings& settings, const RunMeasures& measures,
                      const std::string& trace_path, StopSignal& stop, const Console& console) {
  return run_once(problem, settings.options(), settings, measures, trace_path, stop, console);
}

void refit(Problem& problem, const Settings& settings, const RunMeasures& measures,
           const std::string& trace_path, StopSignal& stop, const Console& console, RunOutcome& outcome) {
  Result& chosen = outcome.result;
  if (!outcome.held_out || outcome.held_out->delivered_iteration <= 0) return;
  if (was_cut_short(chosen.summary, stop)) return;
  Options options = settings.options();
  options.iterations = outcome.held_out->delivered_iteration;
  if (options.time_limit_seconds > 0) {
    options.time_limit_seconds -= chosen.summary.wall_seconds;
    if (options.time_limit_seconds <= 0) return;
  }
  console.progress("running again with all validation rows");
  RunMeasures traced = measures;
  traced.held_out = nullptr;
  traced.resolver = nullptr;
  Result result = run_once(problem, options, settings, traced, trace_path, stop, console).result;
  if (!result.status.ok() || was_cut_short(result.summary, stop)) return;
  chosen.upper = std::move(result.upper);
  chosen.lower = std::move(result.lower);
  chosen.summary.upper_change_max = result.summary.upper_change_max;
  outcome.held_out->refit = std::move(result.summary);
}

}  // namespace adbo::app
