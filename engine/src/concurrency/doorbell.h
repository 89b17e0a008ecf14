#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "concurrency/cache_line.h"
#include "concurrency/memory_orders.h"
#include "concurrency/yield_point.h"

namespace adbo::detail {

/// Wakes one waiter (the master) when any of many ringers (the workers' threads) has left something for it.
/// The bell carries no data: it counts rings, and the waiter looks for itself.
///
///   ringer:  leave work;              ring()
///   waiter:  t = ticket();  look for work;  none there: wait(t)
///
/// No wake-up is lost: if work was left before its ring() and the waiter's look missed it, then wait(t)
/// returns.
///
/// Proof. Let R be the increment of `seq` in that ring().
/// 1. If ticket() counted R, then R synchronizes with the ticket (E4), so leaving the work happens before the
///    look, and the look cannot miss it. Hence the look missed it only if t does not count R, and seq != t as
///    soon as R is there (seq only grows; equality after exactly 2^32 rings within one look is ruled out by
///    having fewer workers than that with one message in flight each).
/// 2. wait(t) raises `sleeping` (F), then reads seq (C), both with the mutex held; ring() increments seq (R),
///    then reads `sleeping` (L). F, C, R, L are sequentially consistent, so they have one total order S in
///    which F < C and R < L (E5). If R < C, then C sees it, and wait(t) returns without sleeping. Else F < C
///    < R < L, and L sees the flag raised, or lowered again after F: only the waiter lowers it, at the end of
///    this wait or a later one, and so this wait has returned.
/// 3. A ringer that sees the flag passes through the mutex, then notifies. The waiter holds the mutex from
/// before
///    F until the condition variable has put it to sleep. So the ringer's passage comes before F: then R
///    happens before C, which is case 2; or it comes when the waiter sleeps or is through: then the
///    notification finds it asleep and wakes it, and awake it reads seq again, where R is (E6).
///
/// Rings that find nobody asleep take no lock. Spurious wake-ups are absorbed. The bell must outlive every
/// ring() call: the owner lets its ringers finish before destroying it.
class Doorbell {
 public:
  using Clock = std::chrono::steady_clock;

  Doorbell() = default;
  Doorbell(const Doorbell&) = delete;
  Doorbell& operator=(const Doorbell&) = delete;

  /// Any thread.
  void ring() noexcept {
    ADBO_YIELD_POINT();
    words_.seq.fetch_add(1, order::kBellIncrement);  // (E4) (E5)
    ADBO_YIELD_POINT();
    if (words_.sleeping.load(order::kE5ReadFlag) != 0) wake();  // (E5)
  }

  /// The number of rings so far, modulo 2^32. Take it before looking for work.
  [[nodiscard]] std::uint32_t ticket() const noexcept { return words_.seq.load(order::kE4Acquire); }  // (E4)

  /// Waiter: returns when there was a ring that `ticket` does not count.
  void wait(std::uint32_t ticket) {
    park(ticket, [this](std::unique_lock<std::mutex>& lock) {
      rung_.wait(lock);
      return true;
    });
  }

  /// Waiter: as wait(), but not beyond `deadline`. True if there was a ring, false if the time ran out first.
  [[nodiscard]] bool wait_until(std::uint32_t ticket, Clock::time_point deadline) {
    return park(ticket, [this, deadline](std::unique_lock<std::mutex>& lock) {
      return rung_.wait_until(lock, deadline) == std::cv_status::no_timeout;
    });
  }

 private:
  /// `block(lock)` sleeps on the condition variable; false when its time is over.
  template <class Block>
  bool park(std::uint32_t ticket, Block block) {
    if (words_.seq.load(order::kE4Acquire) != ticket) return true;  // (E4)
    ADBO_YIELD_POINT();
    std::unique_lock lock(mutex_);  // (E6)
    ADBO_YIELD_POINT();
    words_.sleeping.store(1, order::kE5RaiseFlag);  // (E5)
    bool has_time = true;
    bool is_rung = words_.seq.load(order::kE5Recheck) != ticket;  // (E5)
    while (!is_rung && has_time) {
      ADBO_YIELD_POINT();
      has_time = block(lock);  // (E6)
      is_rung = words_.seq.load(order::kE5Recheck) != ticket;
    }
    // A ringer that still sees the flag notifies nobody, which does no harm.
    words_.sleeping.store(0, std::memory_order_relaxed);
    return is_rung;
  }

  void wake() noexcept {
#ifndef ADBO_WEAKEN_E6
    { const std::lock_guard lock(mutex_); }  // (E6)
#endif
    // Outside of the lock, so that the waiter does not wake up only to wait for the mutex.
    rung_.notify_one();
  }

  // `seq` is written by the ringers, `sleeping` by the waiter and read by every ringer: apart, the second
  // line stays shared among the ringers' caches as long as the waiter is busy.
  struct Words {
    alignas(kCacheLine) std::atomic<std::uint32_t> seq{0};
    alignas(kCacheLine) std::atomic<std::uint32_t> sleeping{0};
  };
  static_assert(offsetof(Words, seq) == 0 && offsetof(Words, sleeping) == kCacheLine);
  static_assert(sizeof(Words) == 2 * kCacheLine);
  static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

  Words words_;
  std::mutex mutex_;
  std::condition_variable rung_;
};

}  // namespace adbo::detail
