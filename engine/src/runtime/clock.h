#pragma once
// In which order, and when, the master takes answers.

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <queue>
#include <vector>

#include "adbo/arrivals.h"
#include "adbo/options.h"
#include "adbo/state_archive.h"
#include "runtime/delay_model.h"

namespace adbo::detail {

/// The master's arrival order. One thread.
class Clock {
 public:
  using Instant = std::chrono::steady_clock::time_point;

  struct Next {
    enum class Kind {
      kReady,        ///< `worker`'s answer is due now
      kAwaitWorker,  ///< `worker`'s answer is the next one, once it is there
      kAwaitTime,    ///< nothing is due before `time`, unless another answer comes
      kAwaitAny,     ///< whichever comes
      kNever,        ///< a recording is over
    };
    Kind kind = Kind::kAwaitAny;
    bool is_lost = false;  ///< kAwaitWorker: not to be waited for, it never answered
    std::size_t worker = 0;
    Instant time{};
  };

  virtual ~Clock() = default;
  /// A request left for the worker.
  virtual void sent(std::size_t worker) = 0;
  /// The worker's answer is in the master's hands (it may still have to wait for its due time).
  virtual void seen(std::size_t worker) = 0;
  [[nodiscard]] virtual Next next() = 0;
  /// The master takes the answer that next() named.
  virtual void take(std::size_t worker) = 0;
  [[nodiscard]] virtual double now_seconds() const = 0;
  /// Whether the order is the same in every run: then a checkpoint waits for what is being computed, so that
  /// a resumed run finds the same answers.
  [[nodiscard]] virtual bool is_deterministic() const = 0;
  /// The workers whose answers are to come, each once per answer, where the clock knows that.
  [[nodiscard]] virtual bool knows_pending() const { return false; }
  [[nodiscard]] virtual std::vector<std::size_t> pending() const { return {}; }
  /// Answers that wait for their time, and what the next delays are drawn from.
  virtual void persist(StateArchive& archive) = 0;
};

/// An answer and when it is due.
template <class Time>
struct Due {
  Time time{};
  std::uint64_t order = 0;
  std::size_t worker = 0;
  bool operator>(const Due& other) const {
    return time != other.time ? time > other.time : order > other.order;
  }
};

/// Answers by due time, equal times by order.
template <class Time>
class DueQueue : public std::priority_queue<Due<Time>, std::vector<Due<Time>>, std::greater<>> {
 public:
  [[nodiscard]] std::vector<std::size_t> workers() const {
    std::vector<std::size_t> all;
    for (const Due<Time>& due : this->c) all.push_back(due.worker);
    return all;
  }
  /// `seconds` and `time` turn a time into seconds that may be saved, and back.
  template <class ToSeconds, class FromSeconds>
  void persist(StateArchive& archive, const ToSeconds& to_seconds, const FromSeconds& from_seconds) {
    std::uint64_t size = this->c.size();
    archive(size);
    archive.require(size <= archive.bytes_left(), "the state ends too early");
    if (archive.is_loading()) this->c.clear();
    for (std::uint64_t k = 0; k < size; ++k) {
      Due<Time> due;
      if (!archive.is_loading()) due = this->c[k];
      double seconds = archive.is_loading() ? 0 : to_seconds(due.time);
      archive(seconds, due.order, due.worker);
      archive.require(std::abs(seconds) <= 10 * kLongestDelaySeconds, "a time that cannot be");
      if (archive.is_loading()) {
        due.time = from_seconds(seconds);
        this->push(due);
      }
    }
  }
};

/// Answers are due after the delay drawn when the request was sent; time is that of the delays alone, and the
/// order is the same whatever the threads do. Equal due times in order of sending.
class VirtualClock final : public Clock {
 public:
  explicit VirtualClock(DelayModel delays) : delays_(std::move(delays)) {}
  void sent(std::size_t worker) override;
  void seen(std::size_t) override {}
  [[nodiscard]] Next next() override;
  void take(std::size_t worker) override;
  [[nodiscard]] double now_seconds() const override { return now_; }
  [[nodiscard]] bool is_deterministic() const override { return true; }
  [[nodiscard]] bool knows_pending() const override { return true; }
  [[nodiscard]] std::vector<std::size_t> pending() const override { return queue_.workers(); }
  void persist(StateArchive& archive) override;

 private:
  DelayModel delays_;
  DueQueue<double> queue_;
  std::uint64_t sent_count_ = 0;
  double now_ = 0;
};

/// Answers are due when they come, or an injected delay after that.
class RealClock final : public Clock {
 public:
  explicit RealClock(DelayModel delays)
      : delays_(std::move(delays)), start_(std::chrono::steady_clock::now()) {}
  void sent(std::size_t) override {}
  void seen(std::size_t worker) override;
  [[nodiscard]] Next next() override;
  void take(std::size_t worker) override;
  [[nodiscard]] double now_seconds() const override;
  [[nodiscard]] bool is_deterministic() const override { return false; }
  [[nodiscard]] bool knows_pending() const override { return true; }
  [[nodiscard]] std::vector<std::size_t> pending() const override { return queue_.workers(); }
  void persist(StateArchive& archive) override;

 private:
  DelayModel delays_;
  Instant start_;
  DueQueue<Instant> queue_;
  std::uint64_t seen_count_ = 0;
};

/// Answers are taken in a recorded order.
class ReplayClock final : public Clock {
 public:
  explicit ReplayClock(std::vector<Arrival> arrivals) : arrivals_(std::move(arrivals)) {}
  void sent(std::size_t) override {}
  void seen(std::size_t) override {}
  [[nodiscard]] Next next() override;
  void take(std::size_t worker) override;
  [[nodiscard]] double now_seconds() const override { return now_; }
  [[nodiscard]] bool is_deterministic() const override { return true; }
  void persist(StateArchive& archive) override {
    archive(taken_, now_);
    archive.require(taken_ <= arrivals_.size(), "a recording that is shorter");
  }

 private:
  std::vector<Arrival> arrivals_;
  std::size_t taken_ = 0;
  double now_ = 0;
};

[[nodiscard]] std::unique_ptr<Clock> make_clock(const Options& options, std::size_t num_workers);

}  // namespace adbo::detail
