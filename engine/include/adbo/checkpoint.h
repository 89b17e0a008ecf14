#pragma once
// A run as bytes, to be gone on with later.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "adbo/identity.h"
#include "adbo/state_archive.h"
#include "adbo/summary.h"

namespace adbo {

/// Takes the checkpoints of a run. A checkpoint stands between two iterations (where a run is interrupted
/// while it waits for answers, within one) and holds all that the rest of the run depends on: variables,
/// duals, cuts, tables, random streams, answers that wait for their time, the clock, and what an observer
/// gives to Observer::persist(). Under the virtual clock a resumed run has the bits of one that was never
/// interrupted.
///
/// Called by the master thread. What it throws ends the run and comes out of solve().
class CheckpointSink {
 public:
  virtual ~CheckpointSink() = default;

  /// Asked after each iteration; `iteration` of them are complete. Making a checkpoint waits for the answers
  /// that are being computed, except under the real clock: those steps are asked for again by a resumed run.
  [[nodiscard]] virtual bool is_due(std::int64_t iteration) = 0;
  /// Whether a run that ends like this leaves one: the iterations complete so far are not lost.
  [[nodiscard]] virtual bool is_due_at_end(Termination termination) {
    return termination == Termination::kStopped || termination == Termination::kTimeLimit;
  }
  /// `image` is valid during the call. Storing it so that a killed process leaves the old one or the new one
  /// is the sink's part; the image has a checksum of its own.
  virtual void store(std::int64_t iteration, std::span<const std::byte> image) = 0;
};

/// What can be said of a checkpoint without resuming it.
struct CheckpointFacts {
  std::int64_t iteration = 0;  ///< complete
  std::string version;         ///< of the library that made it
  Identity identity;           ///< of the run; another one cannot go on with it
};

/// The frame of a checkpoint, which serves for any state that is kept for later:
///   magic [8] | checksum [8] of all that follows | format [4] | facts | state
/// Replaces `image` by a frame's beginning; the state is to be appended, by StateArchive::saving_to(image).
void begin_checkpoint(std::vector<std::byte>& image, CheckpointFacts& facts);
/// After the state: the checksum.
void seal_checkpoint(std::vector<std::byte>& image);

struct OpenedCheckpoint {
  CheckpointFacts facts;
  std::span<const std::byte> state;
};
/// Verifies frame and checksum. BadState says what is wrong.
[[nodiscard]] OpenedCheckpoint open_checkpoint(std::span<const std::byte> image);
/// What is different between what a checkpoint is of and what is to go on with it, in one sentence; empty:
/// nothing.
[[nodiscard]] std::string first_difference(const CheckpointFacts& before, const CheckpointFacts& now);

}  // namespace adbo
