#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "adbo/state_archive.h"
#include "adbo/summary.h"

namespace adbo {

/// The state after a master iteration, valid during the call only.
struct IterationView {
  const TraceRecord& record;
  std::span<const double> upper;  ///< v, [n]
  std::span<const double> lower;  ///< z, [m]
  /// Whether the run is to end, by request_stop() or its limit of time: for an observer that takes long to
  /// ask while it works. Empty outside of a run.
  std::function<bool()> is_interrupted{};
};

enum class ObserverAction {
  kContinue,
  kStop,
  kAbort,
  /// The observation was given up, for the run is interrupted, and nothing of it was kept. The run ends; one
  /// that goes on from its checkpoint shows the observer the same iteration, with the same record, again.
  kInterrupted
};

/// Called by the master thread between iterations (and once before the first, with iteration 0). The time it
/// takes is not counted as the run's. An exception thrown here ends the run and is rethrown by solve() after
/// an orderly stop.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual ObserverAction on_iteration(const IterationView& view) = 0;
  /// The master has waited for `seconds` by now, and `worker` is the one it misses (of several, the one asked
  /// first). Called every few seconds while it waits.
  virtual void on_waiting(std::size_t /*worker*/, double /*seconds*/) {}
  /// worker_failure = drop, and a worker has gone.
  virtual void on_dropped(const DroppedWorker&) {}
  /// What a checkpoint is to keep of the observer, and a resumed run gives back before the first call of
  /// on_iteration(). What it throws while loading, BadState included, comes out of resume().
  virtual void persist(StateArchive&) {}
  /// Asked when persist() has given back the state of a run that is to go on: whether that run had come to
  /// its end by this observer's judgement, so that going on is to do nothing. A stop that is asked for from
  /// outside is no such end: the run goes on.
  [[nodiscard]] virtual bool has_ended() const { return false; }
};

}  // namespace adbo
