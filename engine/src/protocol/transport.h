#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "adbo/state_archive.h"
#include "protocol/messages.h"
#include "protocol/worker_incident.h"

namespace adbo::detail {

/// The latest state of each worker that the master has accepted.
class WorkerStates {
 public:
  virtual ~WorkerStates() = default;
  [[nodiscard]] virtual const UpdateMessage& state(std::size_t worker) const = 0;
};

/// How requests reach workers and answers reach the master. The seam at which another transport (processes,
/// MPI) would stand: the master's code knows no threads and no shared memory beyond it. All calls are the
/// master's.
class Transport : public WorkerStates {
 public:
  [[nodiscard]] virtual std::size_t num_workers() const = 0;

  /// The snapshot to fill for the next publish().
  virtual Snapshot& draft() = 0;
  /// The draft becomes what following requests carry.
  virtual void publish() = 0;
  /// What was published last.
  [[nodiscard]] virtual const Snapshot& current() const = 0;

  /// The request to fill for send(); the worker must have none.
  virtual Request& request(std::size_t worker) = 0;
  /// Sends a step with the current snapshot; its answer comes by next_update().
  virtual void send_step(std::size_t worker) = 0;
  /// Waits for the next update in the clock's order. nullopt: the run was interrupted (stop, time limit).
  virtual std::optional<std::size_t> next_update() = 0;
  /// What is wrong with the answer that next_update() gave, or that the last exchange should have given.
  [[nodiscard]] virtual std::optional<WorkerIncident> update_incident(std::size_t worker) const = 0;
  [[nodiscard]] virtual std::optional<WorkerIncident> reply_incident(std::size_t worker) const = 0;
  /// The worker is never asked or heard again.
  virtual void drop(std::size_t worker) = 0;
  [[nodiscard]] virtual bool is_dropped(std::size_t worker) const = 0;
  /// Makes the worker's newest update its state.
  virtual void accept(std::size_t worker) = 0;

  /// Waits, in the clock's time, until no step is in flight. The answers are kept: they are the first that
  /// next_update() gives, in their order. False: interrupted.
  virtual bool hold_all() = 0;
  /// The same, but the answers are discarded: the workers have moved on, their accepted states are older.
  virtual bool discard_all() = 0;

  enum class Timing {
    kTimed,    ///< the exchange takes what the delay model says, and the slowest decides
    kUntimed,  ///< a measurement: it takes no time of the run and disturbs nothing
  };
  /// Sends the requests of these workers (ascending; filled through request()), but for those that are
  /// dropped, and waits for all answers; false: interrupted. The others' replies stand. kTimed needs that no
  /// step is in flight (hold_all or discard_all before).
  virtual bool exchange(std::span<const std::size_t> workers, Timing timing) = 0;
  /// Waits, outside the time of the run, until every worker has computed its answer: an untimed exchange may
  /// follow.
  virtual bool settle() = 0;
  /// The worker's answer to its last exchange, valid until its next one.
  [[nodiscard]] virtual const RoundMessage& reply(std::size_t worker) const = 0;

  /// Whether now_seconds() is another time than that of the wall: virtual, or recorded.
  [[nodiscard]] virtual bool has_own_time() const { return false; }
  /// Seconds of the run: virtual under the virtual clock.
  [[nodiscard]] virtual double now_seconds() const = 0;

  /// What waits from now on goes on for so long after the run was interrupted: what it waits for may be near
  /// its end, and half done it would be lost. 0: not at all.
  virtual void set_grace(double seconds) = 0;
  /// Why the recording that the run follows does not fit; empty: it does.
  [[nodiscard]] virtual std::string recording_fault() const { return {}; }
  /// Whether the run was interrupted because the recording it follows is over.
  [[nodiscard]] virtual bool is_recording_over() const { return false; }

  /// Whether a step of the worker is in flight, or its answer waits for next_update().
  [[nodiscard]] virtual bool is_awaited(std::size_t worker) const = 0;
  /// Brings the workers to where persist() may save them: whatever the clock has made deterministic waits for
  /// what is being computed; if the run is interrupted, at most `grace_seconds` longer. False: it was not
  /// enough.
  virtual bool prepare_to_persist(double grace_seconds) = 0;
  /// Accepted states, answers in flight, the workers' own states, the clock. A step that is still being
  /// computed (the real clock's) is forgotten: after loading, the worker is not awaited.
  virtual void persist(StateArchive& archive) = 0;
};

}  // namespace adbo::detail
