#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <thread>

#include "concurrency/doorbell.h"
#include "concurrency/snapshot_domain.h"
#include "concurrency/spsc_ring.h"

// One small program per edge of engine/src/concurrency/MEMORY_MODEL.md. Between the start and the end of its
// threads a scenario uses no synchronization but the edges it names, and passes ordinary (non-atomic) data
// over them. Correct contents are checked by the returned value; that the data is ordered is for
// ThreadSanitizer to check, which does not need the race to happen, only the happens-before relation to be
// missing.
//
// tests/concurrency/edges_test.cpp runs the scenarios as they are. tests/negative builds each of them again,
// once as it is and once with one side of the edge weakened, and expects a report in the second case.

namespace adbo::test {

using detail::Doorbell;
using detail::SnapshotDomain;
using detail::SpscRing;

struct Numbers {
  std::array<std::uint64_t, 4> values{};

  void fill(std::uint64_t seed) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = seed * (i + 1);
  }
  [[nodiscard]] bool holds(std::uint64_t seed) const {
    Numbers expected;
    expected.fill(seed);
    return values == expected.values;
  }
};

using NumbersRing = SpscRing<Numbers, 4>;

inline Numbers& await_slot(NumbersRing& ring) {
  Numbers* slot = ring.claim();
  while (slot == nullptr) {
    std::this_thread::yield();
    slot = ring.claim();
  }
  return *slot;
}

// E1 and E2: messages through a ring, many times its depth, so that each slot is written again after it was
// read. Without E1 the consumer's read races with the write it should follow; without E2 the producer's write
// races with the read it should follow.
[[nodiscard]] inline bool ring_scenario() {
  constexpr std::uint64_t kMessages = 2000;
  NumbersRing ring;
  std::thread producer([&ring] {
    for (std::uint64_t message = 1; message <= kMessages; ++message) {
      await_slot(ring).fill(message);
      ring.publish();
    }
  });
  bool all_hold = true;
  for (std::uint64_t message = 1; message <= kMessages; ++message) {
    while (ring.available() == 0) std::this_thread::yield();
    all_hold &= ring.peek(0).holds(message);
    ring.release(1);
  }
  producer.join();
  return all_hold;
}

using NumbersDomain = SnapshotDomain<Numbers>;

/// `count` domains of one reader. A scenario uses each for one step only: the reader's pointer goes from null
/// to a snapshot once, so that the reader can wait for it by try_read() and needs no other signal.
inline std::deque<NumbersDomain> one_step_domains(std::size_t count,
                                                  const NumbersDomain::Reclaimer& on_reclaim = {}) {
  std::deque<NumbersDomain> domains;
  for (std::size_t i = 0; i < count; ++i) {
    domains.emplace_back(
        1, [] { return std::make_unique<Numbers>(); }, on_reclaim);
  }
  return domains;
}

inline const Numbers& await_snapshot(const NumbersDomain& domain) {
  const Numbers* snapshot = domain.try_read(0);
  while (snapshot == nullptr) {
    std::this_thread::yield();
    snapshot = domain.try_read(0);
  }
  return *snapshot;
}

// E3: the contents of the snapshot, and a request beside it, pass from the master to the reader.
[[nodiscard]] inline bool hand_over_scenario() {
  constexpr std::size_t kSteps = 200;
  std::deque<NumbersDomain> domains = one_step_domains(kSteps);
  std::array<std::uint64_t, kSteps> requests{};
  bool all_hold = true;
  std::thread reader([&] {
    for (std::size_t step = 0; step < kSteps; ++step) {
      const Numbers& snapshot = await_snapshot(domains[step]);
      all_hold &= snapshot.holds(step + 1) && requests[step] == step + 1;
    }
  });
  for (std::size_t step = 0; step < kSteps; ++step) {
    domains[step].draft().fill(step + 1);
    domains[step].publish();
    requests[step] = step + 1;
    domains[step].hand_to(0);
  }
  reader.join();
  return all_hold;
}

// E4: what was left before ring() is there for who took a ticket that counts this ring.
[[nodiscard]] inline bool ticket_scenario() {
  constexpr std::size_t kRings = 200;
  std::deque<Doorbell> bells(kRings);
  std::array<Numbers, kRings> work;
  std::thread ringer([&] {
    for (std::size_t i = 0; i < kRings; ++i) {
      work[i].fill(i + 1);
      bells[i].ring();
    }
  });
  bool all_hold = true;
  for (std::size_t i = 0; i < kRings; ++i) {
    while (bells[i].ticket() == 0) std::this_thread::yield();
    all_hold &= work[i].holds(i + 1);
  }
  ringer.join();
  return all_hold;
}

// T1, made of E1: the reader's reads come before the reclaim that its arrival message allows.
[[nodiscard]] inline bool quiescence_scenario() {
  constexpr std::size_t kSteps = 200;
  std::uint64_t reclaimed = 0;
  std::deque<NumbersDomain> domains = one_step_domains(kSteps, [&reclaimed](Numbers& snapshot) {
    snapshot.fill(0);
    ++reclaimed;
  });
  NumbersRing arrivals;
  bool all_hold = true;
  std::thread reader([&] {
    for (std::size_t step = 0; step < kSteps; ++step) {
      all_hold &= await_snapshot(domains[step]).holds(step + 1);
      await_slot(arrivals);
      arrivals.publish();
    }
  });
  for (std::size_t step = 0; step < kSteps; ++step) {
    NumbersDomain& domain = domains[step];
    domain.draft().fill(step + 1);
    domain.publish();
    domain.hand_to(0);
    domain.draft();
    domain.publish();  // retires what the reader is inside
    while (arrivals.available() == 0) std::this_thread::yield();
    arrivals.release(1);
    domain.arrived(0);  // reclaims it
  }
  reader.join();
  return all_hold && reclaimed == kSteps;
}

// T2, made of E1 and E3: consecutive steps of one worker run on two threads in turn. Its own state and its
// side of the ring pass from the one to the other by way of the master.
[[nodiscard]] inline bool worker_state_scenario() {
  constexpr std::size_t kSteps = 400;
  std::deque<NumbersDomain> domains = one_step_domains(kSteps);
  NumbersRing ring;
  std::uint64_t steps_done = 0;  // the worker's state, not atomic
  bool all_hold = true;          // likewise
  const auto run_steps = [&](std::size_t first) {
    for (std::size_t step = first; step < kSteps; step += 2) {
      await_snapshot(domains[step]);  // not looked into: that is hand_over_scenario()
      ++steps_done;
      const Numbers* previous = ring.last_published();
      all_hold &= (previous == nullptr) ? step == 0 : previous->holds(step);
      await_slot(ring).fill(step + 1);
      ring.publish();
    }
  };
  std::thread even([&] { run_steps(0); });
  std::thread odd([&] { run_steps(1); });
  for (std::size_t step = 0; step < kSteps; ++step) {
    domains[step].draft();
    domains[step].publish();
    domains[step].hand_to(0);
    const std::size_t kept = step == 0 ? 0 : 1;  // the newest message stays until a newer one is there
    while (ring.available() == kept) std::this_thread::yield();
    ring.release(kept);
    domains[step].arrived(0);
  }
  even.join();
  odd.join();
  return all_hold && steps_done == kSteps;
}

/// Waiting this long though a ring is there means that its wake-up was lost. Far beyond what a busy machine
/// keeps a thread from running.
inline constexpr std::chrono::seconds kLostAfter{5};

/// No new round after this time, as a rule: where the cores are contended, each round may cost a time slice.
inline constexpr std::chrono::seconds kWakeUpLimit{20};

// E5 and E6: a ringer and a waiter, in step: each round has one ring, which finds the waiter at some point on
// its way to sleep. A lost wake-up leaves it asleep, since no further ring comes to its rescue. Every wait
// has a deadline, so that a loss ends the scenario with false and never as a hang.
//
// `on_start(is_waiter)` is called first thing by either thread; it may change how the thread is run.
template <class OnStart>
[[nodiscard]] bool wake_up_scenario(std::uint32_t rounds, std::uint32_t ringer_delays, OnStart on_start,
                                    std::chrono::seconds limit = kWakeUpLimit) {
  Doorbell bell;
  // The work itself is these two counters; they are relaxed and order nothing.
  std::atomic<std::uint32_t> left{0};
  std::atomic<std::uint32_t> taken{0};
  std::atomic<bool> is_over{false};
  std::thread ringer([&] {
    on_start(false);
    std::uint64_t random = 0x2545F4914F6CDD1Du;
    for (std::uint32_t round = 1; round <= rounds; ++round) {
      for (std::uint32_t spins = 0; taken.load(std::memory_order_relaxed) != round - 1; ++spins) {
        if (is_over.load(std::memory_order_relaxed)) return;
        if (spins > 1000) std::this_thread::yield();
      }
      random ^= random << 13;
      random ^= random >> 7;
      random ^= random << 17;
      // Meet the waiter at every point of its way: loads of an atomic are not optimized away.
      for (std::uint64_t i = (random >> 33) % ringer_delays; i > 0; --i) {
        (void)taken.load(std::memory_order_relaxed);
      }
      left.store(round, std::memory_order_relaxed);
      bell.ring();
    }
  });
  on_start(true);
  const Doorbell::Clock::time_point end = Doorbell::Clock::now() + limit;
  bool is_lost = false;
  for (std::uint32_t round = 1; round <= rounds && !is_lost; ++round) {
    for (;;) {
      const std::uint32_t ticket = bell.ticket();
      if (left.load(std::memory_order_relaxed) == round) break;
      const Doorbell::Clock::time_point start = Doorbell::Clock::now();
      const bool is_rung = bell.wait_until(ticket, start + kLostAfter);
      // After a lost wake-up, wait_until() gives true too, for it looks again at the end: the time tells.
      is_lost = !is_rung || Doorbell::Clock::now() - start >= kLostAfter;
      if (is_lost) break;
    }
    taken.store(round, std::memory_order_relaxed);
    if (round % 64 == 0 && Doorbell::Clock::now() >= end) break;
  }
  is_over.store(true, std::memory_order_relaxed);
  ringer.join();
  return !is_lost;
}

[[nodiscard]] inline bool wake_up_scenario(std::uint32_t rounds, std::uint32_t ringer_delays) {
  return wake_up_scenario(rounds, ringer_delays, [](bool) {});
}

}  // namespace adbo::test
