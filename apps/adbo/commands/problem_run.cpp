#include "commands/problem_run.h"

#include <csignal>
#include <ostream>

#include "commands/clean.h"
#include "commands/quadratic.h"
#include "commands/tune.h"
#include "execution/run_solver.h"
#include "io/atomic_file.h"
#include "output/result_text.h"
#include "output/row_files.h"
#include "output/words.h"

namespace adbo::app {
namespace {

PreparedTask prepare(Settings& settings, const Console& console) {
  switch (settings.task().problem) {
    case ProblemKind::kClean:
      return prepare_cleaning(settings, console);
    case ProblemKind::kTune:
      return prepare_tuning(settings, console);
    case ProblemKind::kQuadratic:
      break;
  }
  return prepare_quadratic(settings);
}

void refuse_invalid(const Status& status) {
  if (status.ok()) return;
  if (status.code() == StatusCode::kInvalidOption) throw UsageError(status.message());
  throw std::runtime_error(status.message());
}

void refuse_invalid_options(const Settings& settings) {
  refuse_invalid(validate_options(settings.options(), static_cast<std::size_t>(settings.task().workers)));
}

ExitCode exit_code(const Summary& summary, int signal, bool require_converged) {
  if (summary.termination == Termination::kDiverged) return ExitCode::kDiverged;
  if (summary.termination == Termination::kSolveFailed) return ExitCode::kSolveFailed;
  if (summary.termination == Termination::kFailed) return ExitCode::kWorkerFailed;
  if (signal == SIGINT) return ExitCode::kInterrupted;
  if (signal == SIGTERM) return ExitCode::kTerminated;
  const bool missed = require_converged && summary.termination != Termination::kConverged;
  return missed ? ExitCode::kNotConverged : ExitCode::kFinished;
}

RunOutcome run(PreparedTask& task, const Settings& settings, const OutputFolder& folder, StopSignal& stop,
               const Console& console) {
  RunOutcome outcome =
      run_solver(task.problem, settings, task.measures, folder.file("trace.csv"), stop, console);
  if (task.with_held_out && settings.task().after_holdout == AfterHoldout::kRefit) {
    Problem problem = task.with_held_out();
    refit(problem, settings, task.measures, folder.file("trace_refit.csv"), stop, console, outcome);
  }
  return outcome;
}

void report(const RunFacts& facts, const OutputFolder& folder, const Console& console) {
  const std::string json = json_text(summary_json(facts));
  io::write_file(folder.file("summary.json"), json);
  console.out() << (facts.settings->task().json ? json : result_text(facts, folder.path())) << std::flush;
}

}  // namespace

ResolveOptions resolve_options(const Settings& settings, double automatic) {
  ResolveOptions options;
  const double given = settings.task().measure_tolerance;
  options.gradient_tolerance = given > 0 ? given : automatic;
  options.max_evaluations = settings.task().measure_evaluations;
  options.threads = settings.options().threads;
  return options;
}

ExitCode run_problem(Settings& settings, const Environment& environment) {
  const Console& console = environment.console;
  refuse_invalid_options(settings);
  const OutputFolder folder(settings.task().out);
  environment.limit_threads(settings.options().threads);
  PreparedTask task = prepare(settings, console);
  refuse_invalid_options(settings);  // the number of workers may have followed the data
  refuse_invalid(task.problem.validate());

  folder.create();
  StopSignal stop;
  const RunOutcome outcome = run(task, settings, folder, stop, console);
  const Result& result = outcome.result;
  refuse_invalid(result.status);
  write_upper(folder.file("upper.npy"), result.upper);
  if (stop.received() != 0)
    console.note("stopped; measuring and writing the results (a second signal ends at once)");

  console.progress("measuring what the result is worth");
  Findings findings = task.conclude(task.problem, result, folder);
  RunFacts facts{.settings = &settings,
                 .summary = &result.summary,
                 .held_out = outcome.held_out,
                 .metrics = std::move(findings.metrics),
                 .read_seconds = task.read_seconds,
                 .measure_seconds = findings.measure_seconds,
                 .words = run_words(result.summary, settings.options().method, outcome.held_out),
                 .data = std::move(task.data)};
  facts.words.insert(facts.words.end(), findings.words.begin(), findings.words.end());
  report(facts, folder, console);
  return exit_code(result.summary, stop.received(), settings.task().require_converged);
}

}  // namespace adbo::app
