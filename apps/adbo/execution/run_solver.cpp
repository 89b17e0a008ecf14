#include "execution/run_solver.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

#include "adbo/state_archive.h"
#include "adbo/version.h"

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

TraceCsv open_trace(const RunFiles& files) {
  if (files.from) return TraceCsv(files.trace, TraceCsv::Continued{});
  return TraceCsv(files.trace);
}

Identity identity_of_recording(const Options& options, const Problem& problem, const RunFiles& files) {
  Identity identity = recording_identity(options, problem);
  if (!files.first_recording.empty())
    identity.emplace_back("recording of the first run", files.first_recording);
  return identity;
}

/// Null: the order of arrivals is not to be kept.
std::unique_ptr<ArrivalFile> record_arrivals(Solver& solver, const Options& options, const Problem& problem,
                                             const RunFiles& files) {
  if (files.arrivals.empty()) return nullptr;
  auto recording =
      std::make_unique<ArrivalFile>(files.arrivals, identity_of_recording(options, problem, files));
  solver.record(recording.get());
  return recording;
}

void replay_arrivals(Solver& solver, const Options& options, const Problem& problem, const RunFiles& files,
                     const Console& console) {
  if (files.replayed.empty()) return;
  Recording replayed = read_arrivals(files.replayed, identity_of_recording(options, problem, files));
  if (!replayed.is_whole) console.warning(fmt::format("{}: the recording was cut short", files.replayed));
  solver.replay(std::move(replayed.arrivals));
}

/// Puts the state that the held-out rows chose in the place of the last one.
HeldOutFacts deliver_chosen(EarlyStopping& early_stopping, Result& result) {
  early_stopping.deliver(result);
  return {.delivered_iteration = early_stopping.chosen_iteration(),
          .loss = early_stopping.chosen_loss(),
          .loss_start = early_stopping.first_loss(),
          .gave_up = early_stopping.gave_up()};
}

RunOutcome run_once(Problem& problem, const Options& options, const Settings& settings,
                    const RunMeasures& measures, const RunFiles& files, StopSignal& stop,
                    const Console& console) {
  TraceCsv trace = open_trace(files);
  Progress progress(console, settings.task().progress, options.iterations);
  RunObserver observer(trace, progress, console, stop, measures, test_interval(settings), options.iterations);
  std::optional<EarlyStopping> early_stopping;
  if (measures.held_out) {
    early_stopping.emplace(
        measures.held_out,
        EarlyStoppingOptions{.interval = kHeldOutInterval, .patience = settings.task().patience}, &observer);
    observer.follow(*early_stopping);
  }

  if (files.from) {
    observer.call_when_loaded(files.when_accepted);
  } else if (files.when_accepted) {
    files.when_accepted();
  }

  Solver solver(options);
  const std::unique_ptr<ArrivalFile> recording = record_arrivals(solver, options, problem, files);
  replay_arrivals(solver, options, problem, files, console);
  const Attachment attachment(stop, solver);
  RunOutcome outcome;
  Observer* const watcher = early_stopping ? static_cast<Observer*>(&*early_stopping) : &observer;
  outcome.result = files.from ? solver.resume(problem, files.from->bytes(), watcher, files.checkpoints.get())
                              : solver.solve(problem, watcher, files.checkpoints.get());
  progress.finish();
  if (recording) recording->finish();
  if (outcome.result.status.code() == StatusCode::kInvalidCheckpoint) return outcome;
  const std::string found = continuation_text(files.trace, observer.trace_found());
  if (!found.empty()) console.warning(found);
  outcome.trace = trace.flushed();
  trace.finish();
  outcome.was_interrupted =
      stop.received() != 0 || outcome.result.summary.termination == Termination::kTimeLimit;
  outcome.best = observer.best();
  if (early_stopping && outcome.result.status.ok()) {
    outcome.held_out = deliver_chosen(*early_stopping, outcome.result);
  }
  return outcome;
}

/// A run that was ended from outside (by a signal, or the end of the recording that it follows), or by its
/// own failure, is not repeated.
bool was_cut_short(const Summary& summary, bool gave_up) {
  if (summary.termination == Termination::kStopped) return !gave_up;
  return summary.termination != Termination::kIterationLimit &&
         summary.termination != Termination::kConverged;
}

/// With what is left of the limit of time: if nothing is, a run that ends at its start.
Options within_limit(Options options, const CommandEnd& end) {
  constexpr double kNothing = 1e-9;  // 0 would be no limit
  if (options.time_limit_seconds > 0) options.time_limit_seconds = std::max(kNothing, end.seconds_left());
  return options;
}

}  // namespace

RunOutcome run_solver(Problem& problem, const Settings& settings, const RunMeasures& measures,
                      const RunFiles& files, const CommandEnd& end, StopSignal& stop,
                      const Console& console) {
  return run_once(problem, within_limit(settings.options(), end), settings, measures, files, stop, console);
}

bool is_refit_due(const RunOutcome& outcome) {
  if (!outcome.held_out || outcome.held_out->delivered_iteration <= 0) return false;
  return !was_cut_short(outcome.result.summary, outcome.held_out->gave_up);
}

void refit(Problem& problem, const Settings& settings, const RunMeasures& measures, const RunFiles& files,
           const CommandEnd& end, StopSignal& stop, const Console& console, RunOutcome& outcome) {
  if (!is_refit_due(outcome)) return;
  Result& chosen = outcome.result;
  outcome.was_interrupted = !end.reason().empty();
  if (outcome.was_interrupted) {
    outcome.held_out->cut_short = {.why = std::string(end.reason())};
    return;
  }
  // The recorded run was stopped between the two.
  if (std::error_code none; !files.replayed.empty() && !std::filesystem::exists(files.replayed, none)) {
    outcome.held_out->cut_short = {.why = fmt::format("there is no {} to follow", files.replayed)};
    return;
  }
  Options options = within_limit(settings.options(), end);
  options.iterations = outcome.held_out->delivered_iteration;
  console.progress("running again with all validation rows");
  RunMeasures traced = measures;
  traced.held_out = nullptr;
  traced.resolver = nullptr;
  RunOutcome second = run_once(problem, options, settings, traced, files, stop, console);
  Result& result = second.result;
  outcome.was_interrupted = second.was_interrupted;
  if (result.status.code() == StatusCode::kInvalidCheckpoint) chosen.status = result.status;
  if (!result.status.ok()) return;
  constexpr bool kGaveUp = false;  // nothing is held out, patience has nothing to look at
  if (was_cut_short(result.summary, kGaveUp)) {
    const std::string& message = result.summary.message;  // of what ended from outside there is none
    outcome.held_out->cut_short = {.iterations = result.summary.iterations,
                                   .termination = result.summary.termination,
                                   .why = message.empty() ? std::string(end.reason()) : message};
    return;
  }
  chosen.upper = std::move(result.upper);
  chosen.lower = std::move(result.lower);
  chosen.summary.upper_change_max = result.summary.upper_change_max;
  outcome.held_out->refit = std::move(result.summary);
}

namespace {

void carry(StateArchive& archive, RunOutcome& outcome) {
  archive.sized(outcome.result.upper, outcome.result.lower);
  archive(outcome.result.summary, outcome.held_out, outcome.best, outcome.trace);
}

/// An image of an outcome says so: a checkpoint of the same run has the same identity but for that.
CheckpointFacts facts_of(const RunOutcome& outcome, Identity identity) {
  identity.emplace_back("holds", "the outcome of a first run");
  return {.iteration = outcome.result.summary.iterations,
          .version = std::string(version()),
          .identity = std::move(identity)};
}

}  // namespace

std::vector<std::byte> save_outcome(RunOutcome& outcome, const Identity& identity) {
  std::vector<std::byte> image;
  CheckpointFacts facts = facts_of(outcome, identity);
  begin_checkpoint(image, facts);
  StateArchive archive = StateArchive::saving_to(image);
  carry(archive, outcome);
  seal_checkpoint(image);
  return image;
}

RunOutcome load_outcome(std::span<const std::byte> image, const Identity& identity) {
  const OpenedCheckpoint opened = open_checkpoint(image);
  RunOutcome outcome;
  const std::string difference = first_difference(opened.facts, facts_of(outcome, identity));
  if (!difference.empty()) throw BadState(difference);
  StateArchive archive = StateArchive::loading_from(opened.state);
  carry(archive, outcome);
  return outcome;
}

}  // namespace adbo::app
