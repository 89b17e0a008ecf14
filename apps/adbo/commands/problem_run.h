#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "adbo/problem.h"
#include "adbo/solver.h"
#include "commands/command.h"
#include "execution/run_observer.h"
#include "output/output_folder.h"
#include "output/summary_json.h"
#include "settings/settings.h"

namespace adbo::app {

/// What came out of measuring a finished run.
struct Findings {
  Metrics metrics;
  std::vector<std::string> words;
  double measure_seconds = 0;
};

/// A task that is ready to run.
struct PreparedTask {
  Problem problem{1, 1};
  std::function<Problem()> with_held_out;  ///< the same with the held-out rows; empty where there are none
  RunMeasures measures;
  Json data;                ///< the `data` part of summary.json
  double read_seconds = 0;  ///< 0: nothing was read
  /// Measures the result and writes the files that are the task's own.
  std::function<Findings(Problem&, const Result&, const OutputFolder&)> conclude;
};

/// Prepares, runs, measures and reports the problem that the settings name. Nothing is written before the
/// settings, the data and the output folder have been found good.
[[nodiscard]] ExitCode run_problem(Settings& settings, const Environment& environment);

/// How exactly, and with how many threads, lower levels are re-solved; `automatic` is the tolerance when none
/// is given.
[[nodiscard]] ResolveOptions resolve_options(const Settings& settings, double automatic);

}  // namespace adbo::app
