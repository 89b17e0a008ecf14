#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "adbo/checkpoint.h"
#include "adbo/solver.h"
#include "execution/arrival_file.h"
#include "execution/checkpoint_files.h"
#include "execution/command_end.h"
#include "execution/run_observer.h"
#include "output/held_out_facts.h"
#include "settings/settings.h"
#include "support/console.h"

namespace adbo::app {

struct RunOutcome {
  Result result;
  std::optional<HeldOutFacts> held_out;  ///< of runs with held-out rows
  BestMeasures best;                     ///< along the run, not along a refit
  io::Extent trace;                      ///< of the run's trace, not of a refit's
  bool was_interrupted = false;          ///< by a signal or the limit of time: more of it is to be had
};

/// What a run writes while it goes on, and what it goes on from.
struct RunFiles {
  std::string trace;                              ///< path of trace.csv
  std::shared_ptr<CheckpointSink> checkpoints{};  ///< null: none are made
  std::string arrivals{};  ///< path to record the order of arrivals to; empty: it is not recorded
  /// Checksum of the recording of the first run that this run's recording follows; empty: of none.
  std::string first_recording{};
  std::string replayed{};                 ///< path of a recorded order to follow; empty: the clock's
  std::optional<FoundCheckpoint> from{};  ///< where the run goes on; empty: at its start
  /// Called when the run begins, or its checkpoint turned out to be one that it can go on from; may be empty.
  std::function<void()> when_accepted{};
};

/// Runs the solver with trace, tests and progress; ends in order when `stop` receives a signal. With held-out
/// rows the result is the state that EarlyStopping chooses, and the run ends when `patience` says so.
/// `end`: of the command, whose limit of time has gone on before.
[[nodiscard]] RunOutcome run_solver(Problem& problem, const Settings& settings, const RunMeasures& measures,
                                    const RunFiles& files, const CommandEnd& end, StopSignal& stop,
                                    const Console& console);

/// Runs `problem`, the same with the held-out rows in it, for as many iterations as the chosen state of
/// `outcome` had, and puts the result in the place of that state. Does nothing where the first run was cut
/// short (a signal, a limit of time, divergence) or chose its start; a second run that is cut short leaves
/// the chosen state. `measures` trace it, without held-out rows. `end` as above.
void refit(Problem& problem, const Settings& settings, const RunMeasures& measures, const RunFiles& files,
           const CommandEnd& end, StopSignal& stop, const Console& console, RunOutcome& outcome);
/// Whether refit() would run.
[[nodiscard]] bool is_refit_due(const RunOutcome& outcome);

/// An outcome in a checkpoint's frame. `identity` is Problem::identity() of the run.
[[nodiscard]] std::vector<std::byte> save_outcome(RunOutcome& outcome, const Identity& identity);
/// BadState when the image is damaged, or that of another problem or version.
[[nodiscard]] RunOutcome load_outcome(std::span<const std::byte> image, const Identity& identity);

}  // namespace adbo::app
