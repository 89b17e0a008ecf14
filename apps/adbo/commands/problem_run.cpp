#include "commands/problem_run.h"

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <filesystem>

#include "commands/clean.h"
#include "commands/quadratic.h"
#include "commands/run_task.h"
#include "commands/tune.h"
#include "execution/preparation_limit.h"
#include "io/error.h"
#include "support/exit_code.h"
#include "tasks/datasets.h"

namespace adbo::app {
namespace {

PreparedTask prepare(Settings& settings, const Console& console) {
  const PreparationLimit limit(settings.options().time_limit_seconds);
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

/// The folder is emptied of what a run leaves, a recording included.
void refuse_recording_in(const OutputFolder& folder, const Settings& settings) {
  namespace fs = std::filesystem;
  if (settings.task().replay.empty()) return;
  std::error_code ignored;
  const fs::path holder = fs::absolute(settings.task().replay, ignored).parent_path();
  if (!fs::equivalent(holder, folder.path(), ignored)) return;
  throw UsageError(
      fmt::format("clock = replay:{}: the recording lies in the output folder, which a new run empties; "
                  "give another out",
                  settings.task().replay));
}

std::string_view status_of(const FinishedRun& run) {
  const bool has_second = run.held_out && run.held_out->cut_short;
  return ending_of(to_string(run.summary.termination),
                   has_second ? to_string(run.held_out->cut_short->termination) : std::string_view());
}

}  // namespace

std::optional<ExitCode> failure_code(std::string_view status) {
  if (status == to_string(Termination::kDiverged)) return ExitCode::kDiverged;
  if (status == to_string(Termination::kSolveFailed)) return ExitCode::kSolveFailed;
  if (status == to_string(Termination::kFailed)) return ExitCode::kWorkerFailed;
  return std::nullopt;
}

std::string_view ending_of(std::string_view first, std::string_view second) {
  return failure_code(second) ? second : first;
}

ExitCode exit_code(std::string_view status, int signal, bool require_converged) {
  if (const std::optional<ExitCode> failure = failure_code(status)) return *failure;
  if (signal != 0) return stopped_by(signal);
  const bool missed = require_converged && status != to_string(Termination::kConverged);
  return missed ? ExitCode::kNotConverged : ExitCode::kFinished;
}

void set_console(Console& console, const TaskSettings& task) {
  console.set_quiet(task.quiet);
  console.set_verbose(task.verbose);
  console.set_progress(task.progress != ProgressMode::kNone);
  if (task.progress == ProgressMode::kBar && !console.err_is_terminal()) {
    console.note("progress = bar needs a terminal on stderr: lines instead");
  }
}

void deliver(const Console& console, std::string_view results, int signal) {
  try {
    console.deliver(results);
  } catch (const io::OutputError&) {
    if (signal != SIGHUP) throw;
  }
}

CheckpointRule checkpoint_rule(const Settings& settings) {
  return {.every = settings.task().checkpoint_every, .interval = settings.task().checkpoint_interval};
}

ExitCode run_problem(Settings& settings, const RunJournal& journal, const Environment& environment) {
  const auto begun = std::chrono::steady_clock::now();
  const Console& console = environment.console;
  refuse_invalid_options(settings);
  refuse_recording_in(journal.folder(), settings);
  refuse_inputs_in(journal.folder(), settings, false);
  environment.limit_threads(settings.options().threads);
  PreparedTask task = prepare(settings, console);
  identify(task, settings);
  refuse_invalid_options(settings);  // the number of workers may have followed the data

  StopSignal stop(console.quiet());
  const FinishedRun run = run_task(task, settings, journal, begun, stop, console);
  if (run.is_resumable) {
    console.note(fmt::format("adbo resume {} goes on with this run", journal.folder().path()));
  }
  deliver(console, settings.task().json ? run.json : run.text, stop.received());
  return exit_code(status_of(run), stop.received(), settings.task().require_converged);
}

}  // namespace adbo::app
