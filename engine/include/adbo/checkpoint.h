#pragma once
// A run as bytes, to be gone on with later.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

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
  /// Name and value of everything that has to be the same in the run that goes on with it.
  std::vector<std::pair<std::string, std::string>> identity;
};
/// Verifies frame and checksum. BadState says what is wrong.
[[nodiscard]] CheckpointFacts inspect_checkpoint(std::span<const std::byte> image);

}  // namespace adbo
