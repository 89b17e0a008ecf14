#include "concurrency/spsc_ring.h"

#include <benchmark/benchmark.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>

namespace {

using adbo::detail::SpscRing;

struct Message {
  std::uint64_t number = 0;
};

// One message, both ends in one thread: what the calls cost without any traffic between cores.
void ring_publish_and_consume(benchmark::State& state) {
  SpscRing<Message, 4> ring;
  std::uint64_t number = 0;
  for (auto _ : state) {
    Message* slot = ring.claim();
    if (slot == nullptr) {
      state.SkipWithError("the ring is full");
      break;
    }
    slot->number = number++;
    ring.publish();
    const std::size_t available = ring.available();
    benchmark::DoNotOptimize(ring.peek(available - 1).number);
    ring.release(available);
  }
}
BENCHMARK(ring_publish_and_consume);

// A message there and one back, between two threads: two crossings of the line between cores. Both
// threads spin: it says something only on two cores that are idle otherwise.
void ring_round_trip(benchmark::State& state) {
  SpscRing<Message, 4> there;
  SpscRing<Message, 4> back;
  std::atomic<bool> is_over{false};
  const auto send = [](SpscRing<Message, 4>& ring, std::uint64_t number) {
    if (Message* slot = ring.claim()) slot->number = number;
    ring.publish();
  };
  std::thread echo([&] {
    while (!is_over.load(std::memory_order_relaxed)) {
      if (there.available() == 0) continue;
      const std::uint64_t number = there.peek(0).number;
      there.release(1);
      send(back, number);
    }
  });
  std::uint64_t number = 0;
  for (auto _ : state) {
    send(there, ++number);
    while (back.available() == 0) {
    }
    benchmark::DoNotOptimize(back.peek(0).number);
    back.release(1);
  }
  is_over = true;
  echo.join();
}
BENCHMARK(ring_round_trip)->UseRealTime();

// The master's look at a ring that has nothing new.
void ring_look_at_empty(benchmark::State& state) {
  SpscRing<Message, 4> ring;
  for (auto _ : state) benchmark::DoNotOptimize(ring.available());
}
BENCHMARK(ring_look_at_empty);

}  // namespace
