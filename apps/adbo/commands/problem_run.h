#pragma once

#include <optional>
#include <string_view>

#include "commands/command.h"
#include "execution/run_journal.h"
#include "settings/settings.h"

namespace adbo::app {

/// What the settings say of how the command speaks.
void set_console(Console& console, const TaskSettings& task);
/// Results, on stdout. After a hangup (`signal` is what ended the run, 0: none) there may be nobody who takes
/// them, which is no fault then: they are in the folder.
void deliver(const Console& console, std::string_view results, int signal);
/// What they say of checkpoints.
[[nodiscard]] CheckpointRule checkpoint_rule(const Settings& settings);

/// Of a status of summary.json that is a failure; nothing for others.
[[nodiscard]] std::optional<ExitCode> failure_code(std::string_view status);
/// The status that counts: the first run's, or the second one's where that failed (empty: there was none).
[[nodiscard]] std::string_view ending_of(std::string_view first, std::string_view second);
/// Of a run that ended with this status of summary.json; `signal` ended it, 0: none.
[[nodiscard]] ExitCode exit_code(std::string_view status, int signal, bool require_converged);

/// Prepares, runs, measures and reports the problem that the settings name. Nothing is written before the
/// settings, the data and the output folder have been found good.
[[nodiscard]] ExitCode run_problem(Settings& settings, const RunJournal& journal,
                                   const Environment& environment);

}  // namespace adbo::app
