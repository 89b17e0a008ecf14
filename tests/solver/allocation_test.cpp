// After warm-up neither the master nor a worker allocates: counted per thread.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "adbo/adbo.h"
#include "problems/test_rows.h"
#include "support/allocation_counter.h"

using namespace adbo;

namespace {

/// A quadratic worker that notes what its thread allocated since the last call it served.
class Counting final : public WorkerObjective {
 public:
  Counting(std::atomic<bool>& warm, std::atomic<std::uint64_t>& allocated)
      : warm_(warm), allocated_(allocated) {}
  [[nodiscard]] SampleCounts sample_counts() const override { return {8, 8}; }
  double upper(std::span<const double> x, std::span<const double> y, std::span<double> grad_x,
               std::span<double> grad_y) override {
    note();
    double value = 0;
    for (std::size_t k = 0; k < y.size(); ++k) {
      value += (y[k] - 1) * (y[k] - 1) / 2;
      grad_y[k] = y[k] - 1;
    }
    for (std::size_t k = 0; k < x.size(); ++k) grad_x[k] = x[k] / 10;
    return value;
  }
  double lower(std::span<const double> x, std::span<const double> y, std::span<double> grad_y) override {
    note();
    double value = 0;
    for (std::size_t k = 0; k < y.size(); ++k) {
      grad_y[k] = y[k] - x[k % x.size()];
      value += grad_y[k] * grad_y[k] / 2;
    }
    return value;
  }
  void lower_hessian_product(std::span<const double>, std::span<const double>, std::span<const double> u,
                             std::span<double> out) override {
    note();
    std::copy(u.begin(), u.end(), out.begin());
  }
  void lower_cross_product(std::span<const double> x, std::span<const double>, std::span<const double> u,
                           std::span<double> out) override {
    note();
    std::fill(out.begin(), out.end(), 0.0);
    for (std::size_t k = 0; k < u.size(); ++k) out[k % x.size()] -= u[k];
  }

 private:
  /// A worker's step allocates on the thread that runs it: between two calls on one warm thread the count
  /// must stand.
  void note() {
    thread_local std::uint64_t seen = 0;
    thread_local bool counting = false;
    const std::uint64_t now = test::thread_allocations();
    if (counting && warm_.load()) allocated_ += now - seen;
    seen = now;
    counting = warm_.load();
  }
  std::atomic<bool>& warm_;
  std::atomic<std::uint64_t>& allocated_;
};

class MasterCounter final : public Observer {
 public:
  /// Counts between two iterations: what the run's end allocates is not the hot path's.
  MasterCounter(std::atomic<bool>& warm, std::int64_t warm_after, std::int64_t last_counted)
      : warm_(warm), warm_after_(warm_after), last_counted_(last_counted) {}
  ObserverAction on_iteration(const IterationView& view) override {
    const std::uint64_t now = test::thread_allocations();
    if (view.record.iteration == warm_after_) {
      warm_.store(true);
      at_warm = now;
    }
    if (warm_.load()) last = now;
    if (view.record.iteration == last_counted_) warm_.store(false);
    return ObserverAction::kContinue;
  }
  std::uint64_t at_warm = 0, last = 0;

 private:
  std::atomic<bool>& warm_;
  std::int64_t warm_after_, last_counted_;
};

/// Runs the options on six counting workers; nothing may be allocated between iterations `warm_after` and ten
/// before the last.
Summary check_no_allocation(Options options, std::int64_t warm_after) {
  options.threads = 2;
  options.clock = ClockKind::kVirtual;
  options.delay = "lognormal:0,1";
  std::atomic<bool> warm{false};
  std::atomic<std::uint64_t> worker_allocations{0};
  Problem problem(3, 8);
  for (int i = 0; i < 6; ++i) problem.add_worker(std::make_unique<Counting>(warm, worker_allocations));
  MasterCounter observer(warm, warm_after, options.iterations - 10);
  const Result result = Solver(options).solve(problem, &observer);
  REQUIRE(result.summary.iterations == options.iterations);
  CAPTURE(static_cast<int>(options.executor));
  CHECK(observer.at_warm > 0);
  CHECK(observer.last - observer.at_warm == 0);
  CHECK(worker_allocations.load() == 0);
  return result.summary;
}

}  // namespace

TEST_CASE("hot paths: no allocation after warm-up, master and workers, cuts and drops included") {
  for (const ExecutorKind kind : {ExecutorKind::kInline, ExecutorKind::kThreads, ExecutorKind::kTbb}) {
    for (const CutBarrier barrier : {CutBarrier::kHold, CutBarrier::kRestart}) {
      Options options;
      options.method = Method::kAdbo;
      options.executor = kind;
      options.iterations = 2000;
      options.cut_interval = 5;
      options.max_cuts = 4;
      options.lower_rounds = 2;
      options.cut_barrier = barrier;
      const Summary summary = check_no_allocation(options, 1000);
      REQUIRE(summary.counts.cuts_added > 300);
      REQUIRE(summary.counts.cuts_dropped > 300);
    }
  }
}

TEST_CASE("hot paths: implicit cuts and their exact multipliers allocate nothing after warm-up either") {
  for (const LowerCopies copies : {LowerCopies::kLocal, LowerCopies::kEliminated}) {
    for (const ExecutorKind kind : {ExecutorKind::kInline, ExecutorKind::kTbb}) {
      CAPTURE(static_cast<int>(copies));
      Options options;
      options.method = Method::kAdbo;
      options.cuts = CutConstruction::kImplicit;
      options.lower_copies = copies;
      options.executor = kind;
      options.iterations = 6000;  // the pool of cuts comes late to its largest size
      options.max_cuts = 4;
      const Summary summary = check_no_allocation(options, 3000);
      REQUIRE(summary.counts.cuts_added > 100);
      REQUIRE(summary.counts.cuts_dropped > 100);
    }
  }
}

TEST_CASE("hot paths: no allocation after warm-up in the asynchronous hypergradient, descent and tail") {
  for (const ExecutorKind kind : {ExecutorKind::kInline, ExecutorKind::kThreads, ExecutorKind::kTbb}) {
    Options options;
    options.method = Method::kAsyncHypergradient;
    options.executor = kind;
    options.iterations = 1000;
    check_no_allocation(options, 100);
  }
}

TEST_CASE("hot paths: nor does the master that brings late contributions up to date") {
  std::vector<TuningShard> shards;
  for (std::uint64_t i = 0; i < 6; ++i) {
    shards.push_back({test::random_rows(40, 20, 2, 10 + i), test::random_rows(20, 20, 2, 20 + i)});
  }
  Problem problem = make_regularization_tuning(shards, {});
  Options options;
  options.method = Method::kAsyncHypergradient;
  options.executor = ExecutorKind::kThreads;  // apart from the workers, whose blocks need scratch memory
  options.threads = 2;
  options.clock = ClockKind::kVirtual;
  options.delay = "lognormal:0,1";
  options.iterations = 500;
  std::atomic<bool> warm{false};
  MasterCounter observer(warm, 100, options.iterations - 10);
  REQUIRE(Solver(options).solve(problem, &observer).summary.iterations == options.iterations);
  CHECK(observer.at_warm > 0);
  CHECK(observer.last - observer.at_warm == 0);
}

TEST_CASE("hot paths: the methods of mini-batches allocate nothing after warm-up") {
  for (const Method method :
       {Method::kStocbio, Method::kStable, Method::kVrbo, Method::kSoba, Method::kSaba, Method::kAmigo}) {
    CAPTURE(method_name(method));
    Options options;
    options.method = method;
    options.executor = ExecutorKind::kTbb;
    options.iterations = 200;
    options.step_upper = 0.01;
    options.batch_rows = 2;
    check_no_allocation(options, 50);
  }
}
