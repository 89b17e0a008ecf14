#include "concurrency/spsc_ring.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace {

using adbo::detail::kCacheLine;
using adbo::detail::SpscRing;

struct Message {
  int number = 0;
};
using Ring = SpscRing<Message, 4>;

void send(Ring& ring, int number) {
  Message* slot = ring.claim();
  REQUIRE(slot != nullptr);
  slot->number = number;
  ring.publish();
}

}  // namespace

TEST_CASE("a new ring is empty") {
  Ring ring;
  CHECK(ring.available() == 0);
  CHECK(ring.last_published() == nullptr);
  CHECK(ring.claim() != nullptr);
}

TEST_CASE("a message is not available before it is published") {
  Ring ring;
  Message* slot = ring.claim();
  REQUIRE(slot != nullptr);
  slot->number = 7;
  CHECK(ring.available() == 0);
  ring.publish();
  REQUIRE(ring.available() == 1);
  CHECK(ring.peek(0).number == 7);
}

TEST_CASE("claiming twice gives the same slot, publishing moves on to the next") {
  Ring ring;
  Message* first = ring.claim();
  CHECK(ring.claim() == first);
  ring.publish();
  CHECK(ring.claim() != first);
}

TEST_CASE("a full ring gives no slot until the consumer releases one") {
  Ring ring;
  for (int i = 0; i < 4; ++i) send(ring, i);
  CHECK(ring.claim() == nullptr);
  CHECK(ring.claim() == nullptr);
  REQUIRE(ring.available() == 4);
  ring.release(1);
  send(ring, 4);
  CHECK(ring.claim() == nullptr);
}

TEST_CASE("peek counts from the oldest message that is not released") {
  Ring ring;
  for (int i = 10; i < 13; ++i) send(ring, i);
  REQUIRE(ring.available() == 3);
  CHECK(ring.peek(0).number == 10);
  CHECK(ring.peek(1).number == 11);
  CHECK(ring.peek(2).number == 12);
  ring.release(2);
  CHECK(ring.peek(0).number == 12);
  CHECK(ring.available() == 1);
  ring.release(1);
  CHECK(ring.available() == 0);
}

TEST_CASE("a new message shows beside one that the consumer keeps") {
  Ring ring;
  send(ring, 1);
  REQUIRE(ring.available() == 1);
  send(ring, 2);
  REQUIRE(ring.available() == 2);
  CHECK(ring.peek(1).number == 2);
}

TEST_CASE("order and contents survive many turns around the ring, whatever the fill level") {
  Ring ring;
  int sent = 0;
  int received = 0;
  for (int turn = 0; turn < 100; ++turn) {
    const int burst = 1 + turn % 4;
    for (int i = 0; i < burst; ++i) send(ring, sent++);
    REQUIRE(ring.available() == static_cast<std::size_t>(burst));
    for (int i = 0; i < burst; ++i) CHECK(ring.peek(static_cast<std::size_t>(i)).number == received++);
    ring.release(static_cast<std::size_t>(burst));
  }
  CHECK(sent == received);
}

TEST_CASE("last_published keeps its contents while the next message is written, released or not") {
  Ring ring;
  send(ring, 1);
  REQUIRE(ring.last_published() != nullptr);
  CHECK(ring.last_published()->number == 1);
  REQUIRE(ring.available() == 1);
  ring.release(1);
  for (int number = 2; number < 20; ++number) {
    const Message* previous = ring.last_published();
    Message* next = ring.claim();
    REQUIRE(next != nullptr);
    REQUIRE(next != previous);
    next->number = number;
    CHECK(previous->number == number - 1);
    ring.publish();
    CHECK(ring.last_published() == next);
    REQUIRE(ring.available() == 1);
    ring.release(1);
  }
}

TEST_CASE("with the newest message always kept, depth 2 is enough for one message in flight") {
  SpscRing<Message, 2> ring;
  for (int number = 0; number < 10; ++number) {
    Message* slot = ring.claim();
    REQUIRE(slot != nullptr);
    slot->number = number;
    ring.publish();
    const std::size_t available = ring.available();
    ring.release(available - 1);
    CHECK(ring.peek(0).number == number);
  }
}

TEST_CASE("slots are set up once and used again in place") {
  SpscRing<std::vector<double>, 4> ring;
  std::vector<const double*> buffers;
  for (std::size_t i = 0; i < 4; ++i) {
    ring.slot_for_setup(i).resize(16);
    buffers.push_back(ring.slot_for_setup(i).data());
  }
  for (std::size_t message = 0; message < 12; ++message) {
    std::vector<double>* slot = ring.claim();
    REQUIRE(slot != nullptr);
    CHECK(slot->data() == buffers[message % 4]);
    CHECK(slot->size() == 16);
    slot->front() = static_cast<double>(message);
    ring.publish();
    REQUIRE(ring.available() == 1);
    CHECK(ring.peek(0).data() == buffers[message % 4]);
    CHECK(ring.peek(0).front() == static_cast<double>(message));
    ring.release(1);
  }
}

TEST_CASE("neighbouring slots and rings share no cache line") {
  std::vector<Ring> rings(2);
  const auto address = [](const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); };
  CHECK(address(&rings[0].slot_for_setup(0)) % kCacheLine == 0);
  CHECK(address(&rings[0].slot_for_setup(1)) - address(&rings[0].slot_for_setup(0)) >= kCacheLine);
  CHECK(sizeof(Ring) % kCacheLine == 0);
}

TEST_CASE("both ends work at the same time") {
  constexpr int kMessages = 2000;  // more in tests/stress
  Ring ring;
  std::thread producer([&ring] {
    for (int number = 0; number < kMessages; ++number) {
      Message* slot = ring.claim();
      while (slot == nullptr) {
        std::this_thread::yield();
        slot = ring.claim();
      }
      slot->number = number;
      ring.publish();
    }
  });
  int mismatches = 0;
  int received = 0;
  while (received < kMessages) {
    const std::size_t available = ring.available();
    if (available == 0) std::this_thread::yield();
    for (std::size_t k = 0; k < available; ++k) mismatches += ring.peek(k).number != received++;
    ring.release(available);
  }
  producer.join();
  CHECK(mismatches == 0);
  CHECK(ring.available() == 0);
}
