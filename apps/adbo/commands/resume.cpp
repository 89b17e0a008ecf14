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
#include "io/byte_source.h"
#include "output/summary_json.h"
#include "settings/effects.h"
#include "settings/saved_run.h"
#include "settings/setting_table.h"

namespace adbo::app {
namespace {

/// summary.json of a run that has one: it came to its end, whichever that was.
std::optional<Json> summary_of(const OutputFolder& folder) {
  std::ifstream file(folder.file("summary.json"), std::ios::binary);
  if (!file) return std::nullopt;
  Json json = Json::parse(file, nullptr, false);
  if (!json.is_object() || !json.contains("status")) return std::nullopt;
  return json;
}

/// Whether the run ended at its number of iterations and now has a larger one.
bool has_more_iterations(const Json& summary, const Settings& settings) {
  return summary.value("status", "") == "iteration_limit" &&
         settings.options().iterations > summary.value("iterations", std::int64_t{0});
}

/// Whether the run was judged quickly and is now to be judged in full.
bool has_more_to_measure(const Json& summary, const Settings& settings) {
  return summary.value("measured", "") == "quick" && settings.task().measure != MeasureRule::kQuick;
}

/// Whether a worker may have ended the run, and such a failure is now to be met otherwise.
bool meets_failures_anew(const Json& summary, const std::vector<Assignment>& flags) {
  const std::string status = summary.value("status", "");
  if (status != "failed" && status != "diverged") return false;
  return std::any_of(flags.begin(), flags.end(), [](const Assignment& flag) {
    const SettingInfo* const info = find_setting(flag.name);
    return info != nullptr && info->name.starts_with("worker_");
  });
}

/// A run that is over: its exit code again.
ExitCode leave_as_it_is(const std::string& folder, const Json& summary, const TaskSettings& task,
                        const Console& console) {
  const std::string status = summary.value("status", "");
  console.note(fmt::format("{}: the run is over ({} after {} iterations); there is nothing to go on with",
                           folder, status, summary.value("iterations", std::int64_t{0})));
  if (task.json) console.deliver(json_text(summary));
  constexpr int kNoSignal = 0;
  return exit_code(status, kNoSignal, task.require_converged);
}

ExitCode resume_comparison(const SavedRun& saved, const std::string& folder,
                           const std::vector<Assignment>& flags, const Environment& environment) {
  const std::vector<ComparedMethod> methods = resumed_comparison(saved, flags, folder);
  const TaskSettings& task = methods.front().settings.task();
  set_console(environment.console, task);
  const OutputFolder output(folder);
  ComparisonJournal journal = ComparisonJournal::resumed(output, saved, methods, environment.console);
  std::error_code ignored;
  const std::string table = output.file("table.json");
  if (journal.is_complete() && std::filesystem::exists(table, ignored)) {
    environment.console.note(
        fmt::format("{}: the comparison is over; there is nothing to go on with", folder));
    if (task.json) environment.console.deliver(io::read_bytes(table));
    return ExitCode::kFinished;
  }
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

  const OutputFolder output(folder);
  const RunJournal journal = RunJournal::resumed(output, console, saved, checkpoint_rule(settings));
  if (const std::optional<Json> summary = summary_of(output);
      summary && !summary->value("resumable", false)) {
    if (!has_more_iterations(*summary, settings) && !has_more_to_measure(*summary, settings) &&
        !meets_failures_anew(*summary, flags)) {
      return leave_as_it_is(folder, *summary, settings.task(), console);
    }
    if (has_more_iterations(*summary, settings)) journal.forget_second_run();
  }
  return run_problem(settings, journal, environment);
}

}  // namespace adbo::app
