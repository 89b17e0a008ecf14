#include "concurrency/doorbell.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

namespace {

using adbo::detail::Doorbell;
using Clock = Doorbell::Clock;

}  // namespace

TEST_CASE("the ticket counts the rings") {
  Doorbell bell;
  const std::uint32_t ticket = bell.ticket();
  CHECK(bell.ticket() == ticket);
  bell.ring();
  CHECK(bell.ticket() == ticket + 1);
  bell.ring();
  CHECK(bell.ticket() == ticket + 2);
}

TEST_CASE("a ring after the ticket lets wait through, as often as it is asked") {
  Doorbell bell;
  const std::uint32_t ticket = bell.ticket();
  bell.ring();
  bell.wait(ticket);
  bell.wait(ticket);
  // A deadline in the past does not hide a ring.
  CHECK(bell.wait_until(ticket, Clock::now() - std::chrono::seconds(1)));
}

TEST_CASE("wait_until without a ring returns false, and not before its deadline") {
  Doorbell bell;
  bell.ring();
  const std::uint32_t ticket = bell.ticket();
  const Clock::time_point deadline = Clock::now() + std::chrono::milliseconds(20);
  CHECK_FALSE(bell.wait_until(ticket, deadline));
  CHECK(Clock::now() >= deadline);
  CHECK_FALSE(bell.wait_until(ticket, Clock::now() - std::chrono::seconds(1)));
}

TEST_CASE("a wait that ran out of time leaves the bell as it was") {
  Doorbell bell;
  const std::uint32_t ticket = bell.ticket();
  REQUIRE_FALSE(bell.wait_until(ticket, Clock::now() + std::chrono::milliseconds(1)));
  CHECK(bell.ticket() == ticket);
  bell.ring();
  CHECK(bell.wait_until(ticket, Clock::now()));
}

TEST_CASE("a ring wakes the sleeper") {
  Doorbell bell;
  std::atomic<bool> awake{false};
  const std::uint32_t ticket = bell.ticket();
  std::thread waiter([&] {
    bell.wait(ticket);
    awake.store(true);
  });
  // Time enough to fall asleep. If it did not, this tests the path above once more.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK_FALSE(awake.load());
  bell.ring();
  waiter.join();
  CHECK(awake.load());
}

TEST_CASE("a ring wakes a sleeper with a deadline long before it") {
  Doorbell bell;
  const std::uint32_t ticket = bell.ticket();
  std::thread ringer([&bell] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    bell.ring();
  });
  const Clock::time_point deadline = Clock::now() + std::chrono::seconds(60);
  CHECK(bell.wait_until(ticket, deadline));
  CHECK(Clock::now() < deadline);
  ringer.join();
}

TEST_CASE("rings of several threads are all counted") {
  constexpr std::uint32_t kRings = 5000;
  Doorbell bell;
  std::vector<std::thread> ringers;
  ringers.reserve(3);
  for (int i = 0; i < 3; ++i) {
    ringers.emplace_back([&bell] {
      for (std::uint32_t ring = 0; ring < kRings; ++ring) bell.ring();
    });
  }
  std::uint32_t ticket = 0;
  while (ticket != 3 * kRings) {
    bell.wait(ticket);
    ticket = bell.ticket();
  }
  for (std::thread& ringer : ringers) ringer.join();
  CHECK(bell.ticket() == 3 * kRings);
}
