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
using adbo::test::TimeLimit;
using adbo::test::XorShift;

constexpr std::size_t kPayload = 24;  // three cache lines: a torn message has a wrong sum

struct Message {
  std::uint64_t number = 0;
  std::uint64_t sum = 0;
  bool is_last = false;
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
  const TimeLimit limit;
  bool is_last = false;
  for (std::uint64_t number = 0; !is_last; ++number) {
    is_last = number + 1 == messages || (number % 1024 == 0 && number > 0 && limit.is_over());
    Message* slot = ring.claim();
    while (slot == nullptr) {
      std::this_thread::yield();
      slot = ring.claim();
    }
    fill(*slot, number, random);
    slot->is_last = is_last;
    // The previous message must still be there, and be the previous one.
    const Message* previous = ring.last_published();
    if (number > 0 && (previous->number != number - 1 || previous->sum != sum_of(*previous))) {
      ++broken_own_message;
    }
    ring.publish();
  }
}

struct Tally {
  std::uint64_t messages = 0;
  std::uint64_t broken = 0;
};

/// Takes messages in bursts and keeps up to `keep` of the newest, as the master does with a worker's last
/// state.
template <class Ring>
Tally consume(Ring& ring, std::size_t keep) {
  XorShift random(2);
  Tally tally;
  bool is_over = false;
  std::size_t kept = 0;  // seen, not released
  while (!is_over) {
    const std::size_t available = ring.available();
    if (available == kept) std::this_thread::yield();
    for (std::size_t k = 0; k < available; ++k) {
      const Message& message = ring.peek(k);
      const std::uint64_t number = tally.messages - kept + k;
      if (message.number != number || message.sum != sum_of(message)) ++tally.broken;
      is_over |= message.is_last;
    }
    tally.messages += available - kept;
    const std::size_t most = available > keep ? available - keep : 0;
    // Everything beyond `keep`, or sometimes less: the ring must run at every level between empty and full.
    const std::size_t released = (most > 1 && random.below(4) == 0) ? 1 : most;
    ring.release(released);
    kept = available - released;
  }
  return tally;
}

/// Sends up to `messages` through a ring and gives the number of those that came.
template <std::size_t kDepth>
std::uint64_t run(std::uint64_t messages, std::size_t keep) {
  CAPTURE(kDepth);
  CAPTURE(keep);
  SpscRing<Message, kDepth> ring;
  std::uint64_t broken_own_message = 0;
  std::thread producer([&] { produce(ring, messages, broken_own_message); });
  const Tally tally = consume(ring, keep);
  producer.join();
  CHECK(tally.broken == 0);
  CHECK(broken_own_message == 0);
  // The last message is the last: nothing comes after it, and all of them came.
  CHECK(ring.last_published()->number + 1 == tally.messages);
  return tally.messages;
}

}  // namespace

TEST_CASE("stress: messages through the ring arrive whole, in order, once") {
  constexpr std::uint64_t kMessages = 4000000 / kSlowdown;
  std::uint64_t messages = run<4>(kMessages, 0);
  messages += run<4>(kMessages / 4, 1);
  messages += run<2>(kMessages / 4, 1);
  messages += run<64>(kMessages / 4, 0);
  MESSAGE("messages: " << messages);
}
