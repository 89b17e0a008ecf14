#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "adbo/summary.h"
#include "commands/prepared_task.h"
#include "execution/run_journal.h"
#include "execution/stop_signal.h"
#include "output/held_out_facts.h"
#include "support/console.h"

namespace adbo::app {

/// A run that is over, measured, and written to its folder.
struct FinishedRun {
  Summary summary;
  std::optional<HeldOutFacts> held_out;
  Metrics metrics;
  BestMeasures best;
  bool is_resumable = false;  ///< it was interrupted, and what it left is there to be gone on with
  std::string no_value;       ///< as in Findings
  std::string json;           ///< the text of summary.json
  std::string text;           ///< the same for people
};

/// Puts into task.identity the settings that the iterates depend on, and checksums of the files and of what
/// was made of them. The engine's options are its own to compare.
void identify(PreparedTask& task, const Settings& settings);

/// UsageError where a file of data lies where the command's own outputs go, under the name of one: it would
/// be lost. `with_parts`: the command writes to folders within `folder` too.
void refuse_inputs_in(const OutputFolder& folder, const Settings& settings, bool with_parts);

/// UsageError where the options contradict each other or the number of workers.
void refuse_invalid_options(const Settings& settings);

/// Runs the method of the settings on the task, measures the result and leaves trace, summary and result
/// files in the journal's folder, which it makes. UsageError and std::runtime_error for what the solver
/// refuses; what an objective or a writer throws.
/// `begun` is when the limit of time began to count.
[[nodiscard]] FinishedRun run_task(const PreparedTask& task, const Settings& settings,
                                   const RunJournal& journal, std::chrono::steady_clock::time_point begun,
                                   StopSignal& stop, const Console& console);

}  // namespace adbo::app
