// Many more workers than processors, under the real clock: no answer is lost, and memory stays what it was
// after the first rounds. ADBO_LOAD_STEPS (default 40,000) worker steps.

#include <doctest/doctest.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <numeric>
#include <string>

#include "adbo/adbo.h"
#include "stress_support.h"
#include "support/pull_to_two.h"

using namespace adbo;

namespace {

constexpr std::size_t kWorkers = 2000;

class Counted final : public test::PullToTwo {
 public:
  Counted(double shift, std::atomic<std::int64_t>& calls) : PullToTwo(shift), calls_(calls) {}

 private:
  double before_upper() override {
    calls_.fetch_add(1, std::memory_order_relaxed);
    return 0;
  }
  std::atomic<std::int64_t>& calls_;
};

std::int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

/// Resident memory after the first tenth of the run and at its end.
class MemoryWatcher final : public Observer {
 public:
  explicit MemoryWatcher(std::int64_t warm_up) : warm_up_(warm_up) {}
  ObserverAction on_iteration(const IterationView& view) override {
    if (view.record.iteration == warm_up_) warm = resident_bytes();
    last = resident_bytes();
    return ObserverAction::kContinue;
  }
  std::int64_t warm = 0, last = 0;

 private:
  std::int64_t warm_up_;
};

std::int64_t steps_wanted() {
  const char* const given = std::getenv("ADBO_LOAD_STEPS");
  return given != nullptr ? std::atoll(given) : 40'000;
}

}  // namespace

TEST_CASE("load: 2,000 workers on few processors") {
  std::atomic<std::int64_t> calls{0};
  Problem problem(2, 2);
  for (std::size_t i = 0; i < kWorkers; ++i) {
    problem.add_worker(std::make_unique<Counted>(1e-3 * static_cast<double>(i % 7), calls));
  }
  Options options;
  options.clock = ClockKind::kReal;
  options.active_workers = 400;
  options.max_staleness = 20;
  options.iterations = steps_wanted() / options.active_workers;
  MemoryWatcher watcher(options.iterations / 10);
  const Result result = Solver(options).solve(problem, &watcher);

  REQUIRE(result.summary.termination == Termination::kIterationLimit);
  const auto& ages = result.summary.staleness_histogram;
  const std::int64_t taken = std::accumulate(ages.begin(), ages.end(), std::int64_t{0});
  CHECK(taken >= options.iterations * options.active_workers);
  CHECK(result.summary.counts.messages == 2 * taken);
  // What was computed and not taken is at most one answer per worker.
  CHECK(calls.load() >= taken);
  CHECK(calls.load() <= taken + static_cast<std::int64_t>(kWorkers));
  // The heap grows in pages and the system's bookkeeping is not ours: a lost message of 2,000 workers would
  // show as megabytes per thousand iterations. (The sanitizers keep what was freed for a while, to find who
  // still uses it: there the process grows by what goes through the heap.)
#ifndef ADBO_STRESS_IS_INSTRUMENTED
  CHECK(watcher.last - watcher.warm < 4'000'000);
#endif
  std::cout << taken << " worker steps, " << result.summary.wall_seconds << " s, resident "
            << watcher.warm / 1'000'000 << " MB after a tenth, " << watcher.last / 1'000'000
            << " MB at the end\n";
}
