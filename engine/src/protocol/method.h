#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "adbo/state_archive.h"
#include "adbo/summary.h"
#include "protocol/transport.h"

namespace adbo::detail {

/// How a method ends the run by itself.
struct Ending {
  Termination termination = Termination::kConverged;
  std::string message;

  void persist(StateArchive& archive) { archive(termination, message); }
};

/// The master's half of a method: its state and what it does with answers. Knows no threads; everything it
/// learns comes through a Transport, so that it runs without threads in tests.
class MethodMaster {
 public:
  virtual ~MethodMaster() = default;

  /// False: a synchronous method. Workers are never sent a step, step() is never called, and an iteration is
  /// what collective() does with all of them.
  [[nodiscard]] virtual bool is_fed_by_arrivals() const { return true; }

  /// What is broadcast.
  virtual void fill(Snapshot& draft) = 0;
  /// What a worker's step needs beside the snapshot.
  virtual void fill_step(Request& request, std::size_t worker) const = 0;
  /// One master iteration t with the answers of `active` (ascending), whose states are accepted.
  virtual void step(std::int64_t t, std::span<const std::size_t> active, const WorkerStates& states) = 0;

  struct Outcome {
    bool interrupted = false;                  ///< the run is to end; the state is that before the exchange
    std::optional<WorkerIncident> incident{};  ///< a worker failed
    bool answer_all = false;         ///< every worker is idle and is to be answered, not only the active
    std::optional<Ending> ending{};  ///< the iteration counts, and is the last
    [[nodiscard]] bool complete() const { return !interrupted && !incident; }
  };
  /// What the method does with all workers at once after iteration t, if anything is due then.
  virtual Outcome collective(std::int64_t t, std::span<const std::size_t> active, Transport& transport) = 0;

  struct Measurement {
    Outcome outcome{};
    double gap = 0;
  };
  /// ||grad G||^2 of Definition 1 at the current state; the snapshot published last is this state's.
  virtual Measurement stationarity_gap(Transport& transport) = 0;

  [[nodiscard]] virtual std::span<const double> upper_consensus() const = 0;
  [[nodiscard]] virtual std::span<const double> lower_consensus() const = 0;
  /// Fills what the method knows of a record: objectives, distance, cuts.
  virtual void describe(TraceRecord& record) const = 0;
  virtual void describe(Summary& summary) const = 0;

  /// Whether the method can go on without a worker.
  [[nodiscard]] virtual bool can_drop() const { return true; }
  /// The worker's terms leave the sums; it will be neither asked nor heard again. Between two exchanges. What
  /// a collective exchange had begun is begun anew.
  virtual void drop(std::size_t /*worker*/) {}
  /// Those that were not dropped, ascending, after persist() has loaded.
  virtual void set_workers(std::span<const std::size_t>) {}

  /// All that later iterations depend on, as it is between two iterations.
  virtual void persist(StateArchive& archive) = 0;
};

/// Publishes the master's state and sends a step to the given workers.
void broadcast(MethodMaster& method, Transport& transport, std::int64_t iteration,
               std::span<const std::size_t> workers);
/// Sends a step with the snapshot published last.
void send_steps(const MethodMaster& method, Transport& transport, std::int64_t iteration,
                std::span<const std::size_t> workers);

}  // namespace adbo::detail
