#pragma once

#include <string>

#include "adbo/solver.h"
#include "execution/run_observer.h"
#include "settings/settings.h"
#include "support/console.h"

namespace adbo::app {

/// Runs the solver with trace, tests and progress; ends in order when `stop` receives a signal.
[[nodiscard]] Result run_solver(Problem& problem, const Settings& settings, const RunMeasures& measures,
                                const std::string& trace_path, StopSignal& stop, const Console& console);

}  // namespace adbo::app
