#include "commands/run_task.h"

#include <stdexcept>
#include <utility>

#include "execution/run_solver.h"
#include "io/atomic_file.h"
#include "output/result_text.h"
#include "output/row_files.h"
#include "output/words.h"
#include "support/exit_code.h"

namespace adbo::app {
namespace {

void refuse_invalid(const Status& status) {
  if (status.ok()) return;
  if (status.code() == StatusCode::kInvalidOption) throw UsageError(status.message());
  throw std::runtime_error(status.message());
}

RunOutcome run(const PreparedTask& task, const Settings& settings, const OutputFolder& folder,
               StopSignal& stop, const Console& console) {
  Problem problem = task.make_problem();
  refuse_invalid(problem.validate());
  folder.create();
  const RunMeasures measures = task.make_measures(settings);
  RunOutcome outcome = run_solver(problem, settings, measures, folder.file("trace.csv"), stop, console);
  if (task.with_held_out && settings.task().after_holdout == AfterHoldout::kRefit) {
    Problem whole = task.with_held_out();
    refit(whole, settings, measures, folder.file("trace_refit.csv"), stop, console, outcome);
  }
  refuse_invalid(outcome.result.status);
  return outcome;
}

/// The summary, for programs and for people.
void write_summary(FinishedRun& run, const PreparedTask& task, const Settings& settings,
                   const Findings& findings, const OutputFolder& folder) {
  RunFacts facts{.settings = &settings,
                 .summary = &run.summary,
                 .held_out = run.held_out,
                 .metrics = run.metrics,
                 .read_seconds = task.read_seconds,
                 .measure_seconds = findings.measure_seconds,
                 .words = run_words(run.summary, settings.options().method, run.held_out),
                 .data = task.data};
  facts.words.insert(facts.words.end(), findings.words.begin(), findings.words.end());
  run.json = json_text(summary_json(facts));
  run.text = result_text(facts, folder.path());
  io::write_file(folder.file("summary.json"), run.json);
}

}  // namespace

void refuse_invalid_options(const Settings& settings) {
  refuse_invalid(validate_options(settings.options(), static_cast<std::size_t>(settings.task().workers)));
}

FinishedRun run_task(const PreparedTask& task, const Settings& settings, const OutputFolder& folder,
                     StopSignal& stop, const Console& console) {
  RunOutcome outcome = run(task, settings, folder, stop, console);
  const State state{std::move(outcome.result.upper), std::move(outcome.result.lower)};
  write_upper(folder.file("upper.npy"), state.upper);
  if (stop.received() != 0)
    console.note("stopped; measuring and writing the results (a second signal ends at once)");
  console.progress("measuring what the result is worth");
  Findings findings = task.conclude(state, folder);
  FinishedRun finished{.summary = std::move(outcome.result.summary),
                       .held_out = std::move(outcome.held_out),
                       .metrics = std::move(findings.metrics),
                       .best = outcome.best,
                       .no_value = std::move(findings.no_value),
                       .json = {},
                       .text = {}};
  write_summary(finished, task, settings, findings, folder);
  return finished;
}

}  // namespace adbo::app
