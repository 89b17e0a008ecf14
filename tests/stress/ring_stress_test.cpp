#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <thread>
#include <vector>

#include "concurrency/spsc_ring.h"
#include "stress/stress_support.h"

namespace {

using adbo::detail::SpscRing;
using adbo::test::kSlowdown;
using adbo::test::XorShift;

constexpr std::size_t kPayload = 24;  // three cache lines: a torn message has a wrong sum

struct Message {
  std::uint64_t number = 0;
  std::uint64_t sum = 0;
  std::vector<std::uint64_t> payload = std::vector<std::uint64_t>(kPayload);
};

std::uint64_t sum_of(const Message& message) {
  return std::accumulate(message.payload.begin(), message.payload.end(), message.number);
}

void fill(Message& message, std::uint64_t number, XorShift& random) {
  message.number = number;
  std::generate(message.payload.begin(), message.payload.end(), [&random] { return random.next(); });
  message.sum = sum_of(message);
}

template <class Ring>
void produce(Ring& ring, std::uint64_t messages, std::uint64_t& broken_own_message) {
  XorShift random(1);
  for (std::uint64_t number = 0; number < messages; ++number) {
    Message* slot = ring.claim();
    while (slot == nullptr) {
      std::this_thread::yield();
      slot = ring.claim();
    }
    fill(*slot, number, random);
    // The previous message must still be there, and be the previous one.
    const Message* previous = ring.last_published();
    if (number > 0 && (previous->number != number - 1 || previous->sum != sum_of(*previous))) {
      ++broken_own_message;
    }
    ring.publish();
  }
}

/// Takes messages in bursts and keeps up to `keep` of the newest, as the master does with a worker's last
/// state.
template <class Ring>
std::uint64_t count_broken(Ring& ring, std::uint64_t messages, std::size_t keep) {
  XorShift random(2);
  std::uint64_t broken = 0;
  std::uint64_t expected = 0;  // number of the next new message
  std::size_t kept = 0;        // seen, not released
  while (expected < messages) {
    const std::size_t available = ring.available();
    if (available == kept) std::this_thread::yield();
    for (std::size_t k = 0; k < available; ++k) {
      const Message& message = ring.peek(k);
      const std::uint64_t number = expected - kept + k;
      if (message.number != number || message.sum != sum_of(message)) ++broken;
    }
    expected += available - kept;
    const std::size_t most = available > keep ? available - keep : 0;
    // Everything beyond `keep`, or sometimes less: the ring must run at every level between empty and full.
    const std::size_t released = (most > 1 && random.below(4) == 0) ? 1 : most;
    ring.release(released);
    kept = available - released;
  }
  return broken;
}

template <std::size_t kDepth>
void run(std::uint64_t messages, std::size_t keep) {
  CAPTURE(kDepth);
  CAPTURE(keep);
  SpscRing<Message, kDepth> ring;
  std::uint64_t broken_own_message = 0;
  std::thread producer([&] { produce(ring, messages, broken_own_message); });
  const std::uint64_t broken = count_broken(ring, messages, keep);
  producer.join();
  CHECK(broken == 0);
  CHECK(broken_own_message == 0);
  CHECK(ring.available() <= keep + kDepth);
}

}  // namespace

TEST_CASE("stress: messages through the ring arrive whole, in order, once") {
  const std::uint64_t messages = 1600000 / kSlowdown;
  run<4>(messages, 0);
  run<4>(messages / 4, 1);
  run<2>(messages / 4, 1);
  run<64>(messages / 4, 0);
  MESSAGE("messages: " << messages + 3 * (messages / 4));
}
