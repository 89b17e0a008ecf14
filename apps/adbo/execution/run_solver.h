#pragma once

#include <optional>
#include <string>

#include "adbo/solver.h"
#include "execution/run_observer.h"
#include "output/held_out_facts.h"
#include "settings/settings.h"
#include "support/console.h"

namespace adbo::app {

struct RunOutcome {
  Result result;
  std::optional<HeldOutFacts> held_out;  ///< of runs with held-out rows
  BestMeasures best;                     ///< along the run, not along a refit
};

/// Runs the solver with trace, tests and progress; ends in order when `stop` receives a signal. With held-out
/// rows the result is the state that EarlyStopping chooses, and the run ends when `patience` says so.
[[nodiscard]] RunOutcome run_solver(Problem& problem, const Settings& settings, const RunMeasures& measures,
                                    const std::string& trace_path, StopSignal& stop, const Console& console);

/// Runs `problem`, the same with the held-out rows in it, for as many iterations as the chosen state of
/// `outcome` had, and puts the result in the place of that state. Does nothing where the first run was cut
/// short (a signal, a limit of time, divergence) or chose its start; a second run that is cut short leaves
/// the chosen state. `measures` trace it, without held-out rows.
void refit(Problem& problem, const Settings& settings, const RunMeasures& measures,
           const std::string& trace_path, StopSignal& stop, const Console& console, RunOutcome& outcome);

}  // namespace adbo::app
