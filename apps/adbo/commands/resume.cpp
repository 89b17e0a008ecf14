#include "commands/resume.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

#include "commands/compare.h"
#include "commands/problem_run.h"
#include "execution/comparison_journal.h"
#include "execution/run_journal.h"
#include "output/summary_json.h"
#include "settings/effects.h"
#include "settings/saved_run.h"
#include "settings/setting_table.h"
#include "support/exit_code.h"

namespace adbo::app {
namespace {

/// What summary.json says of a run that came to its end, whichever that was.
struct Ended {
  Json summary;
  std::string status;
  std::string ending;  ///< `status`, or the second run's where that failed
  std::int64_t iterations = 0;
  bool is_resumable = false, is_measured = false;
};

/// Nothing where there is no such file, or it is no JSON.
std::optional<Json> json_in(const std::string& folder, std::string_view name) {
  std::ifstream file(std::filesystem::path(folder) / name, std::ios::binary);
  Json json = Json::parse(file, nullptr, false);
  return json.is_discarded() ? std::nullopt : std::optional(std::move(json));
}

/// Nothing where there is no summary, or none that adbo wrote: the run did not come to its end.
std::optional<Ended> read_end(const std::string& folder) {
  std::optional<Json> summary = json_in(folder, "summary.json");
  if (!summary) return std::nullopt;
  try {
    Ended ended;
    ended.summary = std::move(*summary);
    ended.status = ended.summary.at("status").get<std::string>();
    ended.iterations = ended.summary.at("iterations").get<std::int64_t>();
    ended.is_resumable = ended.summary.value("resumable", false);
    ended.is_measured = ended.summary.value("measured", "full") != "quick";
    const Json cut = ended.summary.value("refit_cut_short", Json::object());
    const std::string second = cut.value("status", "");
    ended.ending = ending_of(ended.status, second);
    return ended;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

/// Whether the run ended at its number of iterations and now has a larger one.
bool has_more_iterations(const Ended& ended, const Settings& settings) {
  return ended.status == to_string(Termination::kIterationLimit) &&
         settings.options().iterations > ended.iterations;
}

/// Whether the run was judged quickly and is now to be judged in full.
bool has_more_to_measure(const Ended& ended, const Settings& settings) {
  return !ended.is_measured && settings.task().measure != MeasureRule::kQuick;
}

/// Whether a worker may have ended the run, and such a failure is now to be met otherwise.
bool meets_failures_anew(const Ended& ended, const std::vector<Assignment>& flags) {
  if (ended.ending != to_string(Termination::kFailed) && ended.ending != to_string(Termination::kDiverged)) {
    return false;
  }
  return std::any_of(flags.begin(), flags.end(), [](const Assignment& flag) {
    const SettingInfo* const info = find_setting(flag.name);
    return info != nullptr && info->name.starts_with("worker_");
  });
}

/// A run that is over: its exit code again.
ExitCode leave_as_it_is(const std::string& folder, const Ended& ended, const TaskSettings& task,
                        const Console& console) {
  const bool second = ended.ending != ended.status;
  const bool by_worker = ended.ending == to_string(Termination::kFailed);
  console.note(fmt::format(
      "{}: the run is over ({} after {} iterations{}); {}", folder, ended.status, ended.iterations,
      second ? fmt::format(", the second run {}", ended.ending) : "",
      by_worker
          ? "--worker-deadline, --worker-retries or --worker-failure go on with it, where a worker ended it"
          : "there is nothing to go on with"));
  if (task.json) console.deliver(json_text(ended.summary));
  constexpr int kNoSignal = 0;
  return exit_code(ended.ending, kNoSignal, task.require_converged);
}

ExitCode resume_comparison(const SavedRun& saved, const std::string& folder,
                           const std::vector<Assignment>& flags, const Environment& environment) {
  const std::vector<ComparedMethod> methods = resumed_comparison(saved, flags, folder);
  const TaskSettings& task = methods.front().settings.task();
  set_console(environment.console, task);
  const OutputFolder output = OutputFolder::not_yet_checked(folder);
  ComparisonJournal journal = ComparisonJournal::resumed(output, saved, methods, environment.console);
  // Otherwise tables that are missing or damaged are written again, of what finished.jsonl holds.
  if (journal.is_complete()) {
    const Json table = json_in(folder, "table.json").value();
    environment.console.note(
        fmt::format("{}: the comparison is over; there is nothing to go on with", folder));
    if (task.json) environment.console.deliver(json_text(table));
    return comparison_failure(table);
  }
  output.refuse_unusable();
  return compare_methods(*saved.comparison, methods, std::move(journal), environment);
}

}  // namespace

ExitCode resume_run(const std::string& folder, const std::vector<Assignment>& flags,
                    const Environment& environment) {
  const SavedRun saved = read_saved_run((std::filesystem::path(folder) / kSavedRunFile).string());
  if (saved.comparison) return resume_comparison(saved, folder, flags, environment);
  Settings settings = resumed_settings(saved, flags, folder);
  refuse_flags_without_effect(settings, flags);
  const Console& console = environment.console;
  set_console(environment.console, settings.task());

  const std::optional<Ended> ended = read_end(folder);
  const bool was_over = ended && !ended->is_resumable;
  const bool has_more = was_over && has_more_iterations(*ended, settings);
  if (was_over && !has_more && !has_more_to_measure(*ended, settings) &&
      !meets_failures_anew(*ended, flags)) {
    return leave_as_it_is(folder, *ended, settings.task(), console);
  }
  const OutputFolder output(folder);
  const RunJournal journal = RunJournal::resumed(output, console, saved, checkpoint_rule(settings));
  if (has_more) journal.forget_second_run();
  return run_problem(settings, journal, environment);
}

}  // namespace adbo::app
