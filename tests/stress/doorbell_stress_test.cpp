#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "concurrency/cache_line.h"
#include "concurrency/doorbell.h"
#include "concurrency/edge_scenarios.h"
#include "stress/stress_support.h"

namespace {

using adbo::detail::Doorbell;
using adbo::detail::kCacheLine;
using adbo::test::kLostAfter;
using adbo::test::kSlowdown;
using adbo::test::TimeLimit;
using adbo::test::XorShift;
using Clock = Doorbell::Clock;

constexpr std::size_t kRingers = 6;
constexpr std::uint64_t kItems = 50000 / kSlowdown;  // of each ringer

// A ringer leaves one item at a time and waits for it to be taken, like a worker with its one message in
// flight.
struct alignas(kCacheLine) Mailbox {
  std::atomic<std::uint64_t> left{0};
  std::atomic<std::uint64_t> taken{0};
};

struct Counts {
  std::uint64_t waits = 0;
  std::uint64_t timed_out = 0;
  std::uint64_t lost = 0;
  std::uint64_t early = 0;  // false before the deadline
};

/// Up to kItems items; the last thing is to leave `running` and to ring once more.
void leave_items(Doorbell& bell, Mailbox& mailbox, std::atomic<std::size_t>& running, std::uint64_t seed) {
  XorShift random(seed);
  const TimeLimit limit;
  for (std::uint64_t item = 1; item <= kItems; ++item) {
    for (std::uint64_t i = random.below(300); i > 0; --i) (void)mailbox.taken.load(std::memory_order_relaxed);
    mailbox.left.store(item, std::memory_order_release);
    bell.ring();
    while (mailbox.taken.load(std::memory_order_acquire) != item) std::this_thread::yield();
    if (item % 64 == 0 && limit.is_over()) break;
  }
  running.fetch_sub(1);
  bell.ring();
}

std::uint64_t take_items(std::array<Mailbox, kRingers>& mailboxes) {
  std::uint64_t taken = 0;
  for (Mailbox& mailbox : mailboxes) {
    const std::uint64_t left = mailbox.left.load(std::memory_order_acquire);
    if (left == mailbox.taken.load(std::memory_order_relaxed)) continue;
    mailbox.taken.store(left, std::memory_order_release);
    ++taken;
  }
  return taken;
}

/// Waits in one of the ways there are. Whether a ring was slept through shows in the time.
void wait_somehow(Doorbell& bell, std::uint32_t ticket, XorShift& random, Counts& counts) {
  ++counts.waits;
  const Clock::time_point start = Clock::now();
  if (random.below(4) == 0) {
    const Clock::time_point deadline = start + std::chrono::microseconds(random.below(50));
    if (!bell.wait_until(ticket, deadline)) {
      ++counts.timed_out;
      counts.early += Clock::now() < deadline;
    }
    return;
  }
  if (!bell.wait_until(ticket, start + kLostAfter) || Clock::now() - start >= kLostAfter) ++counts.lost;
}

}  // namespace

TEST_CASE("stress: many ringers, one waiter, no wake-up lost") {
  Doorbell bell;
  std::array<Mailbox, kRingers> mailboxes;
  std::atomic<std::size_t> running{kRingers};
  std::vector<std::thread> ringers;
  ringers.reserve(kRingers);
  for (std::size_t i = 0; i < kRingers; ++i) {
    ringers.emplace_back(
        [&bell, &mailbox = mailboxes[i], &running, i] { leave_items(bell, mailbox, running, i); });
  }
  XorShift random(77);
  Counts counts;
  std::uint64_t taken = 0;
  for (;;) {
    const std::uint32_t ticket = bell.ticket();
    const std::uint64_t now_taken = take_items(mailboxes);
    taken += now_taken;
    if (running.load() == 0) break;
    if (now_taken == 0) wait_somehow(bell, ticket, random, counts);
  }
  for (std::thread& ringer : ringers) ringer.join();
  MESSAGE("items: " << taken << ", waits: " << counts.waits << ", timed out: " << counts.timed_out);
  CHECK(counts.lost == 0);
  CHECK(counts.early == 0);
  CHECK(counts.waits > 0);
  CHECK(bell.ticket() == static_cast<std::uint32_t>(taken + kRingers));
}

TEST_CASE("stress: a waiter without a deadline is woken by each single ring") {
  // wait() has no time limit: a lost wake-up would hang here until CTest's timeout.
  Doorbell bell;
  std::array<Mailbox, kRingers> mailboxes;  // the first one is used
  std::atomic<std::size_t> running{1};
  std::thread ringer([&] { leave_items(bell, mailboxes[0], running, 5); });
  std::uint64_t taken = 0;
  for (;;) {
    const std::uint32_t ticket = bell.ticket();
    const std::uint64_t now_taken = take_items(mailboxes);
    taken += now_taken;
    if (running.load() == 0) break;
    if (now_taken == 0) bell.wait(ticket);
  }
  ringer.join();
  CHECK(taken > 0);
  CHECK(bell.ticket() == static_cast<std::uint32_t>(taken + 1));
}

TEST_CASE("stress: rings that meet the waiter on its way to sleep") {
  CHECK(adbo::test::wake_up_scenario(static_cast<std::uint32_t>(400000 / kSlowdown), 200));
}
