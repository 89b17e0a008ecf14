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
#include "support/exit_code.h"

namespace adbo::app {
namespace {

/// summary.json of a run that has one: it came to its end, whichever that was.
std::optional<Json> summary_of(const std::string& folder) {
  std::ifstream file(std::filesystem::path(folder) / "summary.json", std::ios::binary);
  if (!file) return std::nullopt;
  Json json = Json::parse(file, nullptr, false);
  if (!json.is_object() || !json.contains("status") || !json["status"].is_string()) return std::nullopt;
  return json;
}

/// How the run ended, or its second run where that failed.
std::string ending_of(const Json& summary) {
  const Json second = summary.value("refit_cut_short", Json::object());
  const std::string status = second.value("status", "");
  return failure_code(status) ? status : summary.value("status", "");
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
  const std::string ending = ending_of(summary);
  if (ending != to_string(Termination::kFailed) && ending != to_string(Termination::kDiverged)) return false;
  return std::any_of(flags.begin(), flags.end(), [](const Assignment& flag) {
    const SettingInfo* const info = find_setting(flag.name);
    return info != nullptr && info->name.starts_with("worker_");
  });
}

/// A run that is over: its exit code again.
ExitCode leave_as_it_is(const std::string& folder, const Json& summary, const TaskSettings& task,
                        const Console& console) {
  console.note(fmt::format("{}: the run is over ({} after {} iterations); there is nothing to go on with",
                           folder, summary.value("status", ""),
                           summary.value("iterations", std::int64_t{0})));
  if (task.json) console.deliver(json_text(summary));
  constexpr int kNoSignal = 0;
  return exit_code(ending_of(summary), kNoSignal, task.require_converged);
}

/// By its table.json.
ExitCode failure_of_comparison(const std::string& text, const std::string& path) {
  std::vector<ComparedRun> runs;
  try {
    const Json table = Json::parse(text);
    for (const Json& row : table.at("rows")) {
      for (const Json& run : row.at("runs")) {
        ComparedRun& compared = runs.emplace_back();
        compared.status = run.at("status").get<std::string>();
        compared.counts = run.at("counts").get<bool>();
      }
    }
  } catch (const Json::exception&) {
    throw UsageError(fmt::format("{}: not as adbo writes it", path));
  }
  return comparison_failure(runs);
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
    const std::string text = io::read_bytes(table);
    if (task.json) environment.console.deliver(text);
    return failure_of_comparison(text, table);
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

  const std::optional<Json> summary = summary_of(folder);
  const bool was_over = summary && !summary->value("resumable", false);
  const bool has_more = was_over && has_more_iterations(*summary, settings);
  if (was_over && !has_more && !has_more_to_measure(*summary, settings) &&
      !meets_failures_anew(*summary, flags)) {
    return leave_as_it_is(folder, *summary, settings.task(), console);
  }
  const OutputFolder output(folder);
  const RunJournal journal = RunJournal::resumed(output, console, saved, checkpoint_rule(settings));
  if (has_more) journal.forget_second_run();
  return run_problem(settings, journal, environment);
}

}  // namespace adbo::app
