#include "concurrency/doorbell.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace {

using adbo::detail::Doorbell;
using Clock = Doorbell::Clock;

void doorbell_ring_nobody_sleeps(benchmark::State& state) {
  static Doorbell bell;  // shared by the threads of the benchmark
  for (auto _ : state) bell.ring();
}
BENCHMARK(doorbell_ring_nobody_sleeps)->Threads(1)->Threads(2)->UseRealTime();

double quantile(std::vector<double>& values, double fraction) {
  const auto position =
      values.begin() + static_cast<std::ptrdiff_t>(fraction * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), position, values.end());
  return *position;
}

// From before ring() to after wait(), the waiter being asleep. The reported time is the mean.
void doorbell_wake_latency(benchmark::State& state) {
  Doorbell bell;
  std::atomic<bool> is_over{false};
  std::atomic<std::int64_t> woken_ns{0};  // 0: waits
  const auto now_ns = [] {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
  };
  std::thread waiter([&] {
    std::uint32_t ticket = 0;
    while (!is_over.load()) {
      bell.wait(ticket);
      woken_ns.store(now_ns());
      ticket = bell.ticket();
    }
  });
  std::vector<double> latencies_us;
  for (auto _ : state) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));  // lets the waiter fall asleep
    woken_ns.store(0);
    const std::int64_t start_ns = now_ns();
    bell.ring();
    while (woken_ns.load() == 0) std::this_thread::yield();
    const double latency_seconds = 1e-9 * static_cast<double>(woken_ns.load() - start_ns);
    state.SetIterationTime(latency_seconds);
    latencies_us.push_back(1e6 * latency_seconds);
  }
  is_over = true;
  bell.ring();
  waiter.join();
  state.counters["p50_us"] = quantile(latencies_us, 0.50);
  state.counters["p99_us"] = quantile(latencies_us, 0.99);
}
BENCHMARK(doorbell_wake_latency)->UseManualTime()->Iterations(5000)->Unit(benchmark::kMicrosecond);

}  // namespace
