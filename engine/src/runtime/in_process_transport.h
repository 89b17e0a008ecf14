#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "adbo/state_archive.h"
#include "concurrency/doorbell.h"
#include "concurrency/snapshot_domain.h"
#include "concurrency/spsc_ring.h"
#include "protocol/run_limits.h"
#include "protocol/transport.h"
#include "protocol/worker.h"
#include "runtime/clock.h"
#include "runtime/executor.h"
#include "runtime/fifo.h"
#include "runtime/request_copy.h"

namespace adbo::detail {

/// The workers in this process: a step is one work item of the executor, its answer goes into the worker's
/// own ring, and the master parks on the doorbell. Concurrency is argued in concurrency/MEMORY_MODEL.md.
///
/// A worker has at most one request at a time. Its ring of updates holds, oldest first: the state that the
/// master has accepted, at most one held update, and the one being written: three of four slots. When an
/// update is discarded, the accepted state, which has to outlive it, moves into a copy of the master's.
class InProcessTransport final : public Transport {
 public:
  /// The worker that is missed, and for how long the master has waited.
  using WaitReport = std::function<void(std::size_t worker, double seconds)>;

  struct Parts {
    std::vector<std::unique_ptr<WorkerProgram>> programs;  ///< one per worker
    std::function<std::unique_ptr<Snapshot>()> make_snapshot;
    std::function<void(Snapshot&)> on_reclaim;
    std::unique_ptr<Clock> clock;
    std::unique_ptr<Executor> executor;
    std::int64_t retries = 0;             ///< of an answer that failed
    double deadline_seconds = 0;          ///< that an answer may take to compute; 0: none
    WaitReport report_waiting{};          ///< called every kReportInterval of waiting; may be empty
    ArrivalRecorder* recorder = nullptr;  ///< may be null
  };

  InProcessTransport(Parts parts, const RunLimits& limits);
  ~InProcessTransport() override;
  InProcessTransport(const InProcessTransport&) = delete;
  InProcessTransport& operator=(const InProcessTransport&) = delete;

  [[nodiscard]] const UpdateMessage& state(std::size_t worker) const override;
  [[nodiscard]] std::size_t num_workers() const override { return channels_.size(); }
  Snapshot& draft() override { return domain_.draft(); }
  void publish() override { domain_.publish(); }
  [[nodiscard]] const Snapshot& current() const override { return domain_.current(); }
  Request& request(std::size_t worker) override;
  void send_step(std::size_t worker) override;
  std::optional<std::size_t> next_update() override;
  [[nodiscard]] std::optional<WorkerIncident> update_incident(std::size_t worker) const override;
  [[nodiscard]] std::optional<WorkerIncident> reply_incident(std::size_t worker) const override;
  void drop(std::size_t worker) override;
  [[nodiscard]] bool is_dropped(std::size_t worker) const override { return channels_[worker].is_dropped; }
  void accept(std::size_t worker) override;
  bool hold_all() override;
  bool discard_all() override;
  bool settle() override;
  bool exchange(std::span<const std::size_t> workers, Timing timing) override;
  [[nodiscard]] const RoundMessage& reply(std::size_t worker) const override;
  [[nodiscard]] double now_seconds() const override { return clock_->now_seconds(); }
  void set_grace(double seconds) override {
    grace_ = std::chrono::duration_cast<Clock::Instant::duration>(std::chrono::duration<double>(seconds));
  }
  [[nodiscard]] std::string recording_fault() const override { return recording_fault_; }
  [[nodiscard]] bool has_own_time() const override { return clock_->is_deterministic(); }
  [[nodiscard]] bool is_recording_over() const override { return is_recording_over_; }
  [[nodiscard]] bool is_awaited(std::size_t worker) const override;
  bool prepare_to_persist(double grace_seconds) override;
  void persist(StateArchive& archive) override;

  [[nodiscard]] int threads() const { return executor_->threads(); }
  /// Whether a worker that was given up still computes: then this object, and what its programs refer to,
  /// must not be destroyed. Waits for `seconds` at most that they end.
  [[nodiscard]] bool has_runaways(double seconds);

 private:
  static constexpr std::size_t kUpdateDepth = 4;
  static constexpr std::size_t kRoundDepth = 2;

  enum class Pending : std::uint8_t {
    kNothing,    ///< idle
    kComputing,  ///< asked, the answer has not been seen
    kAnswered,   ///< the answer is in the ring, its time has not come
  };

  struct Channel {
    SpscRing<UpdateMessage, kUpdateDepth> updates;
    SpscRing<RoundMessage, kRoundDepth> rounds;
    std::unique_ptr<WorkerProgram> program;
    Request request;           ///< written by the master before hand_to (E3)
    RequestCopy request_copy;  ///< likewise; where answers have a deadline
    /// Of the computation under way, in nanoseconds of the steady clock; 0: not begun. Written by the worker,
    /// reset by the master before it asks. A hint: nothing is published with it.
    std::atomic<std::int64_t> started_at{0};
    // The master's alone:
    std::size_t updates_seen = 0;  ///< messages in the ring that the master knows of
    UpdateMessage kept;            ///< the accepted state where the ring's oldest message is a discarded one
    bool uses_kept = false;
    bool is_held = false;  ///< its update was taken and waits for next_update()
    Pending step = Pending::kNothing;
    Pending round = Pending::kNothing;
    Clock::Instant asked_at{};  ///< where waiting is reported
    std::int64_t retries = 0;   ///< of the present request
    bool is_lost = false;       ///< it did not answer in time; whatever comes later is not looked at
    bool is_dropped = false;
  };

  void run_worker(std::size_t worker) noexcept;
  void answer_step(Channel& channel, const Snapshot& snapshot);
  void answer_round(Channel& channel, const Snapshot& snapshot);

  void dispatch(std::size_t worker);
  [[nodiscard]] static bool computes(const Channel& channel) {
    return !channel.is_lost && (channel.step == Pending::kComputing || channel.round == Pending::kComputing);
  }
  void note_lost();
  [[nodiscard]] std::optional<std::size_t> take_lost();
  bool ask_again(std::size_t worker);
  void record(std::size_t worker);
  void end_request(std::size_t worker);
  [[nodiscard]] static bool has_request(const Channel& channel) {
    return channel.step != Pending::kNothing || channel.round != Pending::kNothing;
  }
  [[nodiscard]] bool is_interrupted_for_good(Clock::Instant now);
  void report_waiting(Clock::Instant since, Clock::Instant now);
  [[nodiscard]] std::optional<WorkerIncident> incident(std::size_t worker,
                                                       const WorkerFailure* failure) const;
  [[nodiscard]] bool is_any_about_to_go() const;
  void require_consistent() const;
  void persist_channel(StateArchive& archive, Channel& channel);
  static void persist_messages(StateArchive& archive, Channel& channel, std::size_t count);
  [[nodiscard]] bool nobody_computes() const;
  static void release_older(Channel& channel);
  bool notice(std::size_t worker);
  void notice_any();
  std::optional<std::size_t> take_due();
  std::optional<std::size_t> wait_due();
  template <class Condition>
  bool wait_until(const Condition& condition);

  const RunLimits& limits_;
  std::int64_t retries_;
  double deadline_seconds_;
  WaitReport report_waiting_;
  ArrivalRecorder* recorder_;
  bool is_recording_over_ = false;
  std::string recording_fault_;
  Clock::Instant::duration grace_{};
  std::optional<Clock::Instant> interrupted_since_;
  SnapshotDomain<Snapshot> domain_;
  std::vector<Channel> channels_;
  Doorbell bell_;
  std::unique_ptr<Clock> clock_;
  Fifo<std::size_t> held_;  ///< workers whose taken updates wait for next_update()
  std::size_t steps_in_flight_ = 0;
  std::size_t scan_start_ = 0;
  bool exchange_is_timed_ = false;
  Clock::Instant wake_at_{};
  std::unique_ptr<Executor> executor_;  ///< last: destroyed first, so that no item outlives what it uses
};

}  // namespace adbo::detail
