#include "commands/problem_run.h"

#include <csignal>

#include "commands/clean.h"
#include "commands/quadratic.h"
#include "commands/run_task.h"
#include "commands/tune.h"
#include "tasks/datasets.h"

namespace adbo::app {
namespace {

PreparedTask prepare(Settings& settings, const Console& console) {
  switch (settings.task().problem) {
    case ProblemKind::kClean:
      return prepare_cleaning(settings, load_data(settings.task(), console), console);
    case ProblemKind::kTune:
      return prepare_tuning(settings, load_data(settings.task(), console), console);
    case ProblemKind::kQuadratic:
      break;
  }
  return prepare_quadratic(settings);
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

}  // namespace

ExitCode run_problem(Settings& settings, const Environment& environment) {
  const Console& console = environment.console;
  refuse_invalid_options(settings);
  const OutputFolder folder(settings.task().out);
  environment.limit_threads(settings.options().threads);
  const PreparedTask task = prepare(settings, console);
  refuse_invalid_options(settings);  // the number of workers may have followed the data

  StopSignal stop;
  const FinishedRun run = run_task(task, settings, folder, stop, console);
  console.deliver(settings.task().json ? run.json : run.text);
  return exit_code(run.summary, stop.received(), settings.task().require_converged);
}

}  // namespace adbo::app
