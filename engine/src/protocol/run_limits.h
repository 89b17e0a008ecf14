#pragma once

#include <atomic>
#include <chrono>
#include <optional>

namespace adbo::detail {

/// What ends a run from outside: a request by any thread, or the wall clock.
class RunLimits {
 public:
  using Instant = std::chrono::steady_clock::time_point;

  /// Any thread, any signal handler. (A lone flag: nothing else is published with it, so relaxed is enough.)
  void request_stop() noexcept { stop_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool stop_requested() const noexcept { return stop_.load(std::memory_order_relaxed); }

  /// 0: no limit.
  void start(double time_limit_seconds) {
    deadline_.reset();
    constexpr double kLongest = 1e9;  // whatever is longer is no limit, and the clock has to hold it
    if (time_limit_seconds > 0 && time_limit_seconds <= kLongest) {
      deadline_ = std::chrono::steady_clock::now() + std::chrono::duration_cast<Instant::duration>(
                                                         std::chrono::duration<double>(time_limit_seconds));
    }
  }
  void clear_stop() noexcept { stop_.store(false, std::memory_order_relaxed); }
  [[nodiscard]] bool time_is_over() const {
    return deadline_ && std::chrono::steady_clock::now() >= *deadline_;
  }
  [[nodiscard]] bool interrupted() const { return stop_requested() || time_is_over(); }
  /// `other` or the deadline, whichever is first.
  [[nodiscard]] Instant earliest(Instant other) const {
    return deadline_ && *deadline_ < other ? *deadline_ : other;
  }

 private:
  static_assert(std::atomic<bool>::is_always_lock_free, "request_stop() has to be async-signal-safe");
  std::atomic<bool> stop_{false};
  std::optional<Instant> deadline_;
};

}  // namespace adbo::detail
