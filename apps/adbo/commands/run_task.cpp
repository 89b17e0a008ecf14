#include "commands/run_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <utility>

#include "commands/measure_result.h"
#include "execution/arrival_file.h"
#include "execution/preparation_limit.h"
#include "execution/run_journal.h"
#include "execution/run_solver.h"
#include "io/atomic_file.h"
#include "io/byte_source.h"
#include "io/dataset.h"
#include "io/digest.h"
#include "output/result_text.h"
#include "output/row_files.h"
#include "output/words.h"
#include "settings/saved_run.h"
#include "settings/setting_table.h"
#include "support/exit_code.h"

namespace adbo::app {
namespace {

void refuse_invalid(const Status& status) {
  if (status.ok()) return;
  if (status.code() == StatusCode::kInvalidOption) throw UsageError(status.message());
  if (status.code() == StatusCode::kInvalidCheckpoint) {
    throw UnfitCheckpoint("the run cannot be gone on with: " + status.message());
  }
  throw std::runtime_error(status.message());
}

/// Of problems of a hundred thousand columns these are gigabytes. The limit is that of the whole command: a
/// comparison's runs have theirs for themselves, and results beside them.
Problem made(const PreparedTask& task, const RunJournal& journal, const CommandEnd& end) {
  constexpr double kNone = 0, kAtOnce = 1e-6;
  const PreparationLimit limit(journal.is_part() ? kNone : std::max(end.seconds_left(), kAtOnce));
  return task.make_problem();
}

Problem identified(Problem problem, const PreparedTask& task) {
  for (const auto& [name, value] : task.identity) problem.add_identity(name, value);
  return problem;
}

std::string digest_if_there(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return {};
  return io::Digest().update(io::read_bytes(path)).text();
}

/// With what the settings say of the order of arrivals. Of a run that is gone on with the beginning is not
/// there to be recorded.
RunFiles with_arrivals(RunFiles files, const Settings& settings, const RunJournal& journal,
                       std::string_view suffix) {
  namespace fs = std::filesystem;
  if (settings.task().record && !journal.is_resumed()) {
    files.arrivals = journal.folder().file(fmt::format("arrivals{}.csv", suffix));
  }
  if (!settings.task().replay.empty()) {
    const fs::path first = settings.task().replay;
    files.replayed =
        (first.parent_path() / (first.stem().string() + std::string(suffix) + first.extension().string()))
            .string();
  }
  const bool is_second = !suffix.empty();
  if (is_second && !(files.arrivals.empty() && files.replayed.empty())) {
    files.first_recording = digest_if_there(
        settings.task().replay.empty() ? journal.folder().file("arrivals.csv") : settings.task().replay);
  }
  return files;
}

/// Before the folder is emptied.
void refuse_other_recording(const Problem& problem, const Settings& settings) {
  if (settings.task().replay.empty()) return;
  (void)read_arrivals(settings.task().replay, recording_identity(settings.options(), problem));
}

/// Of a first run that ended at its number of iterations, and now has a larger one.
bool is_to_have_more(const RunOutcome& first, const Settings& settings) {
  const Summary& summary = first.result.summary;
  return summary.termination == Termination::kIterationLimit &&
         settings.options().iterations > summary.iterations;
}

/// The first run of a task that has a second one, and the second one: they are of the same files and
/// settings, and not of the same rows.
constexpr const char* kUsedRows = "validation rows in use";

RunOutcome run(const PreparedTask& task, const Settings& settings, const RunJournal& journal,
               const CommandEnd& end, StopSignal& stop, const Console& console) {
  Problem problem = identified(made(task, journal, end), task);
  if (task.with_held_out) problem.add_identity(kUsedRows, "all but those held out");
  refuse_invalid(problem.validate());
  refuse_other_recording(problem, settings);
  stop.listen();
  journal.open(problem.identity());
  const RunMeasures measures = task.make_measures(settings);
  const bool may_refit = task.with_held_out && settings.task().after_holdout == AfterHoldout::kRefit;
  const Identity first_run = Solver(settings.options()).identity(problem);  // as its checkpoints know it
  std::optional<RunOutcome> chosen;
  if (may_refit) chosen = journal.chosen(first_run);
  if (chosen && is_to_have_more(*chosen, settings)) {
    journal.forget_second_run();
    chosen.reset();
  }
  RunOutcome outcome =
      chosen ? std::move(*chosen)
             : run_solver(problem, settings, measures,
                          with_arrivals(journal.first_run(), settings, journal, ""), end, stop, console);
  if (outcome.result.status.ok() && may_refit && is_refit_due(outcome)) {
    if (!chosen) journal.keep_chosen(outcome, first_run);
    Problem whole = identified(task.with_held_out(), task);
    whole.add_identity(kUsedRows, "all");
    refit(whole, settings, measures, with_arrivals(journal.second_run(), settings, journal, "_refit"), end,
          stop, console, outcome);
  }
  refuse_invalid(outcome.result.status);
  return outcome;
}

/// The summary, for programs and for people.
void write_summary(FinishedRun& run, const PreparedTask& task, const Settings& settings,
                   const MeasuredResult& measured, const RunJournal& journal) {
  const OutputFolder& folder = journal.folder();
  const Findings& findings = measured.findings;
  RunFacts facts{.settings = &settings,
                 .summary = &run.summary,
                 .held_out = run.held_out,
                 .metrics = run.metrics,
                 .read_seconds = task.read_seconds,
                 .measure_seconds = findings.measure_seconds,
                 .measured = measured.depth,
                 .is_resumable = run.is_resumable,
                 .words = run_words(run.summary, settings.options().method, run.held_out),
                 .data = task.data};
  const bool has_validation_rows = settings.task().problem != ProblemKind::kQuadratic;
  if (has_validation_rows && settings.task().holdout > 0 && !task.with_held_out) {
    facts.words.push_back(nothing_held_out_words(settings.task().holdout));
  }
  facts.words.insert(facts.words.end(), findings.words.begin(), findings.words.end());
  run.json = json_text(summary_json(facts));
  run.text = result_text(facts, folder.path());
  io::write_file(folder.file("summary.json"), run.json);
}

}  // namespace

void identify(PreparedTask& task, const Settings& settings) {
  for (const SettingInfo& info : setting_table()) {
    const bool counts = (info.problems & settings.problem_mask()) != 0 && !info.of_engine;
    if (counts && !is_free_setting(info.name)) {
      task.identity.emplace_back(fmt::format("setting {}", info.name), info.get(settings.config()));
    }
  }
  for (const auto& [name, facts] : task.data.items()) {
    if (facts.is_object() && facts.contains("digest")) {
      task.identity.emplace_back(fmt::format("contents of {}", name), facts["digest"].get<std::string>());
    }
  }
  if (!task.digest.empty()) task.identity.emplace_back("split, labels and start", task.digest);
}

void refuse_inputs_in(const OutputFolder& folder, const Settings& settings, bool with_parts) {
  for (const std::string_view name : kDataFileSettings) {
    const std::string path = find_setting(name)->get(settings.config());
    std::string file = path, array;
    io::split_member(file, array);
    if (path.empty() || !folder.would_lose(file, with_parts)) continue;
    throw UsageError(fmt::format(
        "{} = {}: lies in the output folder under the name of an output, and would be lost; give another "
        "out",
        name, path));
  }
}

void refuse_invalid_options(const Settings& settings) {
  refuse_invalid(validate_options(settings.options(), static_cast<std::size_t>(settings.task().workers)));
}

FinishedRun run_task(const PreparedTask& task, const Settings& settings, const RunJournal& journal,
                     std::chrono::steady_clock::time_point begun, StopSignal& stop, const Console& console) {
  const OutputFolder& folder = journal.folder();
  const CommandEnd end(stop, begun, settings.options().time_limit_seconds);
  RunOutcome outcome = run(task, settings, journal, end, stop, console);
  const State state{std::move(outcome.result.upper), std::move(outcome.result.lower)};
  write_upper(folder.file("upper.npy"), state.upper);
  const bool was_signalled = stop.received() != 0;
  if (was_signalled) console.note("stopped; writing the results (a second signal ends at once)");
  // What is compared is measured alike, however long it takes.
  const MeasureRule rule = journal.is_part() ? MeasureRule::kFull : settings.task().measure;
  MeasuredResult measured = measure_result(task, state, folder, rule, end, console);
  FinishedRun finished{
      .summary = std::move(outcome.result.summary),
      .held_out = std::move(outcome.held_out),
      .metrics = std::move(measured.findings.metrics),
      .best = outcome.best,
      .is_resumable = journal.is_resumable(outcome.was_interrupted || measured.was_given_up, was_signalled),
      .no_value = std::move(measured.findings.no_value),
      .json = {},
      .text = {}};
  write_summary(finished, task, settings, measured, journal);
  return finished;
}

}  // namespace adbo::app
