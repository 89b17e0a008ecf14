#pragma once

#include "commands/command.h"
#include "settings/settings.h"

namespace adbo::app {

/// Prepares, runs, measures and reports the problem that the settings name. Nothing is written before the
/// settings, the data and the output folder have been found good.
[[nodiscard]] ExitCode run_problem(Settings& settings, const Environment& environment);

}  // namespace adbo::app
