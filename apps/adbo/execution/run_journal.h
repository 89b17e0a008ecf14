#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "execution/checkpoint_files.h"
#include "execution/run_solver.h"
#include "output/output_folder.h"
#include "settings/saved_run.h"
#include "support/console.h"

namespace adbo::app {

/// What a command keeps in its folder so that it can be gone on with: what it was told (run.json), the
/// checkpoints of its runs, and, once held-out rows have chosen, the outcome of the first run.
class RunJournal {
 public:
  /// One of many runs of a command, which itself keeps what it was told. If the command goes on, so does the
  /// run, where there is anything to go on with.
  static RunJournal part(const OutputFolder& folder, const Console& console, CheckpointRule rule,
                         bool command_goes_on);
  /// A command that begins.
  static RunJournal begun(const OutputFolder& folder, const Console& console, SavedRun run,
                          CheckpointRule rule);
  /// A command that goes on. Looks for what there is to go on with.
  static RunJournal resumed(const OutputFolder& folder, const Console& console, SavedRun run,
                            CheckpointRule rule);

  /// Makes the folder and empties it of other results, or leaves in it what the command goes on with.
  /// `identity` is Problem::identity() of the first run: UnfitCheckpoint where it is not what the command
  /// began with, whether or not there is a checkpoint.
  void open(const Identity& identity) const;

  /// The first run, and the one with all validation rows.
  [[nodiscard]] RunFiles first_run() const;
  [[nodiscard]] RunFiles second_run() const;

  /// The first run's outcome, where the command was interrupted in the second. `identity` is
  /// Solver::identity() of the first run: the outcome of another method or another option's value is not its.
  [[nodiscard]] std::optional<RunOutcome> chosen(const Identity& identity) const;
  void keep_chosen(RunOutcome& outcome, const Identity& identity) const;

  /// The run is over: what it was to be gone on with goes.
  void forget() const;
  /// The first run is to go on: what followed it is void.
  void forget_second_run() const;

  [[nodiscard]] const OutputFolder& folder() const { return folder_; }
  /// Whether a run that was interrupted, by a signal or by the limit of time, is there to be gone on with. A
  /// part has the limit for itself, and is over with it.
  [[nodiscard]] bool is_resumable(bool was_interrupted, bool by_signal) const {
    return was_interrupted && (by_signal || !is_part_);
  }
  /// Of a comparison.
  [[nodiscard]] bool is_part() const { return is_part_; }
  [[nodiscard]] bool is_resumed() const { return is_resumed_; }

 private:
  RunJournal(const OutputFolder& folder, const Console& console) : folder_(folder), console_(&console) {}
  [[nodiscard]] bool has_anything() const;
  [[nodiscard]] std::string first_trace() const;
  [[nodiscard]] RunFiles files_of(const std::string& prefix, const std::string& trace) const;

  OutputFolder folder_;
  const Console* console_;
  CheckpointRule rule_;
  SavedRun saved_;  ///< of run.json; a part has none
  bool is_part_ = false, is_resumed_ = false;
};

}  // namespace adbo::app
