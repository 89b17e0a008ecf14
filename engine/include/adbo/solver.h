#pragma once

#include <memory>
#include <span>
#include <vector>

#include "adbo/arrivals.h"
#include "adbo/checkpoint.h"
#include "adbo/identity.h"
#include "adbo/observer.h"
#include "adbo/options.h"
#include "adbo/problem.h"
#include "adbo/status.h"
#include "adbo/summary.h"

namespace adbo {

struct Result {
  Status status;              ///< of the call: bad input is refused here before the first thread starts
  Summary summary;            ///< of the run: how it ended, what it did
  std::vector<double> upper;  ///< v, [n]; the last finite iterate
  std::vector<double> lower;  ///< z, [m]
};

/// Runs a method on a problem. The thread that calls solve() is the master; workers run on the executor's
/// threads. Never prints, exits, reads the environment or installs signal handlers.
class Solver {
 public:
  explicit Solver(Options options);
  ~Solver();
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

  /// Blocks until the run ends. `observer` may be null.
  [[nodiscard]] Result solve(Problem& problem, Observer* observer = nullptr,
                             CheckpointSink* checkpoints = nullptr);
  /// Goes on with a run that `checkpoint` was made of. The problem, the observer and the options have to be
  /// those of that run; of the options only what no iterate depends on may differ: threads, executor,
  /// iterations (of the whole run) and time_limit (of this call). kInvalidCheckpoint names what does not fit,
  /// with both values; of the problem's data that is what Problem::add_identity() tells.
  [[nodiscard]] Result resume(Problem& problem, std::span<const std::byte> checkpoint,
                              Observer* observer = nullptr, CheckpointSink* checkpoints = nullptr);
  /// The next runs tell `recorder` (null: nobody) the order of their answers. It has to outlive them.
  void record(ArrivalRecorder* recorder) noexcept;
  /// The next runs take answers in this order instead of the clock's: with the options and the problem of the
  /// run that was recorded, clock = real, they have its bits. A run ends (kStopped) where its recording does.
  void replay(std::vector<Arrival> arrivals);
  /// What makes the iterates of a run what they are, name and value: a recording or a checkpoint is of use
  /// only where all are equal.
  [[nodiscard]] Identity identity(const Problem& problem) const;

  /// Asks the running solve(), or else the next one, to end after its current iteration. Any thread;
  /// async-signal-safe.
  void request_stop() noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace adbo
