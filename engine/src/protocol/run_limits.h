#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>

namespace adbo::detail {

/// What ends a run from outside: a request by any thread, or the wall clock. Any thread may look.
///
/// Both are lone hints with which nothing else is published, so relaxed is enough. (A worker that was given
/// up may look on while the next run starts.)
class RunLimits {
 public:
  using Instant = std::chrono::steady_clock::time_point;

  /// Any thread, any signal handler.
  void request_stop() noexcept { stop_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool stop_requested() const noexcept { return stop_.load(std::memory_order_relaxed); }

  /// 0: no limit.
  void start(double time_limit_seconds) {
    constexpr double kLongest = 1e9;  // whatever is longer is no limit, and the clock has to hold it
    Instant deadline = Instant::max();
    if (time_limit_seconds > 0 && time_limit_seconds <= kLongest) {
      deadline = std::chrono::steady_clock::now() + std::chrono::duration_cast<Instant::duration>(
                                                        std::chrono::duration<double>(time_limit_seconds));
    }
    deadline_.store(deadline.time_since_epoch().count(), std::memory_order_relaxed);
  }
  void clear_stop() noexcept { stop_.store(false, std::memory_order_relaxed); }
  [[nodiscard]] bool time_is_over() const {
    return deadline() != Instant::max() && std::chrono::steady_clock::now() >= deadline();
  }
  [[nodiscard]] bool interrupted() const { return stop_requested() || time_is_over(); }
  /// `other` or the deadline, whichever is first.
  [[nodiscard]] Instant earliest(Instant other) const { return std::min(deadline(), other); }

 private:
  using Ticks = Instant::duration::rep;

  [[nodiscard]] Instant deadline() const {
    return Instant(Instant::duration(deadline_.load(std::memory_order_relaxed)));
  }

  static_assert(std::atomic<bool>::is_always_lock_free, "request_stop() has to be async-signal-safe");
  std::atomic<bool> stop_{false};
  std::atomic<Ticks> deadline_{Instant::max().time_since_epoch().count()};
};

}  // namespace adbo::detail
