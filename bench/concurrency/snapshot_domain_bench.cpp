#include "concurrency/snapshot_domain.h"

#include <benchmark/benchmark.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace {

struct Snapshot {
  std::uint64_t version = 1;
};

using Domain = adbo::detail::SnapshotDomain<Snapshot>;

// What a worker pays at the start of its step, alone and with a second reader at the same time.
void snapshot_read(benchmark::State& state) {
  static Domain* domain = [] {
    static Domain instance(2, [] { return std::make_unique<Snapshot>(); });
    instance.draft();
    instance.publish();
    instance.hand_to(0);
    instance.hand_to(1);
    return &instance;
  }();
  const std::size_t reader = static_cast<std::size_t>(state.thread_index());
  for (auto _ : state) benchmark::DoNotOptimize(domain->read(reader).version);
}
BENCHMARK(snapshot_read)->Threads(1)->Threads(2)->UseRealTime();

// The alternative that counts references: each reader loads the shared pointer.
void atomic_shared_ptr_load(benchmark::State& state) {
  static std::atomic<std::shared_ptr<const Snapshot>> current{std::make_shared<const Snapshot>()};
  for (auto _ : state) {
    const std::shared_ptr<const Snapshot> snapshot = current.load(std::memory_order_acquire);
    benchmark::DoNotOptimize(snapshot->version);
  }
}
BENCHMARK(atomic_shared_ptr_load)->Threads(1)->Threads(2)->UseRealTime();

// The master's side of one step of one worker, with a snapshot published and reclaimed for each.
void snapshot_publish_hand_over_and_reclaim(benchmark::State& state) {
  Domain domain(1, [] { return std::make_unique<Snapshot>(); });
  domain.draft();
  domain.publish();
  for (auto _ : state) {
    domain.hand_to(0);
    domain.draft().version++;
    domain.publish();
    domain.arrived(0);
  }
}
BENCHMARK(snapshot_publish_hand_over_and_reclaim);

}  // namespace
