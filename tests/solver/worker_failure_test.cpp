// Workers that throw, give NaN, or never answer; and what the run makes of it.

#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "adbo/adbo.h"
#include "support/outliving.h"
#include "support/pull_to_two.h"

using namespace adbo;

namespace {

/// A gate that computations wait at until the test opens it: a worker that never answers, as far as the run
/// knows.
class Gate {
 public:
  void pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    open_.wait(lock, [this] { return is_open_; });
    --waiting_;
    open_.notify_all();
  }
  void open() {
    std::unique_lock lock(mutex_);
    is_open_ = true;
    open_.notify_all();
    open_.wait(lock, [this] { return waiting_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable open_;
  bool is_open_ = false;
  int waiting_ = 0;
};

/// `before(call)` runs before every G_i.
class Scripted final : public test::PullToTwo {
 public:
  Scripted(double shift, std::function<double(int)> before) : PullToTwo(shift), before_(std::move(before)) {}

 private:
  double before_upper() override { return before_ ? before_(++calls_) : 0; }
  std::function<double(int)> before_;
  int calls_ = 0;
};

/// Worker `bad` is scripted, the others are sound.
Problem make_problem(std::size_t workers, std::size_t bad, const std::function<double(int)>& before) {
  Problem problem(3, 3);
  for (std::size_t i = 0; i < workers; ++i) {
    problem.add_worker(std::make_unique<Scripted>(0.1 * static_cast<double>(i),
                                                  i == bad ? before : std::function<double(int)>()));
  }
  return problem;
}

/// The same without worker `bad`.
Problem without(std::size_t workers, std::size_t bad) {
  Problem problem(3, 3);
  for (std::size_t i = 0; i < workers; ++i) {
    if (i != bad) problem.add_worker(std::make_unique<Scripted>(0.1 * static_cast<double>(i), nullptr));
  }
  return problem;
}

Options options_for(Method method) {
  Options options;
  options.method = method;
  options.executor = ExecutorKind::kThreads;
  options.threads = 3;
  options.iterations = 300;
  options.clock = ClockKind::kVirtual;
  options.delay = "lognormal:0,1";
  options.step_upper = 0.3;
  options.worker_failure = WorkerFailurePolicy::kDrop;
  return options;
}

double throw_from(int call, int first) {
  if (call >= first) throw std::runtime_error("the data base is gone");
  return 0;
}

class Watcher final : public Observer {
 public:
  ObserverAction on_iteration(const IterationView& view) override {
    iterations = view.record.iteration;
    return ObserverAction::kContinue;
  }
  void on_waiting(std::size_t worker, double seconds) override {
    awaited = static_cast<int>(worker);
    waited = seconds;
  }
  void on_dropped(const DroppedWorker& worker) override { dropped.push_back(worker); }
  std::int64_t iterations = 0;
  int awaited = -1;
  double waited = 0;
  std::vector<DroppedWorker> dropped;
};

double error_against(const Result& a, const Result& b) {
  double largest = 0;
  for (std::size_t k = 0; k < a.upper.size(); ++k)
    largest = std::max(largest, std::abs(a.upper[k] - b.upper[k]));
  return largest;
}

}  // namespace

TEST_CASE("drop: every method but the decentralized ends where the others alone would") {
  for (const MethodInfo& info : method_table()) {
    if (info.method == Method::kDsbo || info.method == Method::kSpdb || info.method == Method::kAuto)
      continue;
    CAPTURE(info.name);
    const Options options = options_for(info.method);
    Problem problem = make_problem(5, 2, [](int call) { return throw_from(call, 3); });
    Watcher watcher;
    const Result result = Solver(options).solve(problem, &watcher);
    REQUIRE(result.status.ok());
    const auto& dropped = result.summary.dropped_workers;
    REQUIRE(dropped.size() == 1);
    CHECK(dropped[0].worker == 2);
    CHECK(dropped[0].why == "the data base is gone");
    CHECK(dropped[0].iteration >= 1);
    CHECK(watcher.dropped.size() == 1);
    // Those that converge in 300 iterations are at the minimum without the worker.
    const bool converges = info.method != Method::kAdbo && info.method != Method::kSdbo &&
                           info.method != Method::kCpbo && info.method != Method::kF2sa;
    if (!converges) continue;
    Problem others = without(5, 2);
    Options exact = options;
    exact.method = Method::kExact;
    CHECK(error_against(result, Solver(exact).solve(others)) < 2e-2);
  }
}

TEST_CASE("drop: unrolled and implicit cuts go on with the others, whichever exchange fails") {
  for (const CutConstruction cuts : {CutConstruction::kUnrolled, CutConstruction::kImplicit}) {
    for (const CutBarrier barrier : {CutBarrier::kHold, CutBarrier::kRestart}) {
      for (const int first : {1, 2, 5, 9}) {
        CAPTURE(first);
        Options options = options_for(Method::kAdbo);
        options.cuts = cuts;
        options.cut_barrier = barrier;
        options.cut_interval = 3;
        options.lower_copies = LowerCopies::kLocal;
        options.stationarity_interval = 4;
        options.iterations = 40;
        Problem problem = make_problem(5, 1, [first](int call) { return throw_from(call, first); });
        const Result result = Solver(options).solve(problem);
        CHECK(result.summary.termination == Termination::kIterationLimit);
        CHECK(result.summary.dropped_workers.size() == 1);
        CHECK(std::isfinite(result.upper[0]));
      }
    }
  }
}

TEST_CASE("drop: a worker that gives NaN goes too, and with the last worker the run ends") {
  Options options = options_for(Method::kAuto);
  Problem problem = make_problem(3, 0, [](int call) { return call > 4 ? std::nan("") : 0.0; });
  const Result result = Solver(options).solve(problem);
  CHECK(result.summary.termination == Termination::kIterationLimit);
  CHECK(result.summary.dropped_workers.size() == 1);

  Problem single = make_problem(1, 0, [](int call) { return throw_from(call, 3); });
  const Result last = Solver(options).solve(single);
  CHECK(last.summary.termination == Termination::kFailed);
  CHECK(last.summary.message.find("no worker is left") == 0);
}

TEST_CASE("fail and decentralized: the first failure ends the run") {
  for (const Method method : {Method::kAuto, Method::kDsbo}) {
    Options options = options_for(method);
    if (method == Method::kAuto) options.worker_failure = WorkerFailurePolicy::kFail;
    Problem problem = make_problem(4, 3, [](int call) { return throw_from(call, 4); });
    const Result result = Solver(options).solve(problem);
    CHECK(result.summary.termination == Termination::kFailed);
    CHECK(result.summary.message.find("worker 3, iteration") == 0);
  }
}

TEST_CASE("retries: a failure that passes leaves no trace in a full-batch synchronous run") {
  for (const Method method : {Method::kAidCg, Method::kAuto, Method::kSdbo}) {
    Options options = options_for(method);
    options.worker_retries = 2;
    options.iterations = 60;
    const auto fails_twice = [](int call) {
      if (call == 9 || call == 10) throw std::runtime_error("hiccup");
      return 0.0;
    };
    Problem problem = make_problem(4, 1, fails_twice), sound = make_problem(4, 1, nullptr);
    const Result result = Solver(options).solve(problem);
    CHECK(result.summary.termination == Termination::kIterationLimit);
    CHECK(result.summary.dropped_workers.empty());
    if (method == Method::kAidCg) CHECK(result.upper == Solver(options).solve(sound).upper);

    Problem worse = make_problem(4, 1, [](int call) { return throw_from(call, 9); });
    options.worker_failure = WorkerFailurePolicy::kFail;
    const Result failed = Solver(options).solve(worse);
    CHECK(failed.summary.termination == Termination::kFailed);
  }
}

TEST_CASE("a worker that never answers: dropped, and the run finishes on four") {
  // On two processors oneTBB would give one thread, and the worker that hangs would hold it.
  const tbb::global_control control(tbb::global_control::max_allowed_parallelism, 4);
  for (const ClockKind clock : {ClockKind::kReal, ClockKind::kVirtual}) {
    for (const ExecutorKind executor : {ExecutorKind::kThreads, ExecutorKind::kTbb}) {
      // It and the problem outlive the run, as they have to where a computation was given up.
      const auto gate = std::make_shared<Gate>();
      Problem& problem = test::keep(make_problem(5, 4, [gate](int call) {
        if (call >= 20) gate->pass();
        return 0.0;
      }));
      Options options = options_for(Method::kAuto);
      options.clock = clock;
      options.delay = clock == ClockKind::kReal ? "none" : "lognormal:0,1";
      options.executor = executor;
      options.threads = 2;
      options.active_workers = 3;
      options.max_staleness = 4;
      options.iterations = 200;
      options.worker_deadline_seconds = 0.2;
      Watcher watcher;
      const Result result = Solver(options).solve(problem, &watcher);
      CHECK(result.summary.termination == Termination::kIterationLimit);
      CHECK(result.summary.iterations == 200);
      REQUIRE(result.summary.dropped_workers.size() == 1);
      CHECK(result.summary.dropped_workers[0].worker == 4);
      CHECK(result.summary.dropped_workers[0].why == "no answer within 0.2 s (worker_deadline)");
      CHECK(result.summary.has_runaways);
      gate->open();  // the late answer goes where nobody looks
    }
  }
}

TEST_CASE("a worker that never answers and fail: the run ends and names it") {
  const auto gate = std::make_shared<Gate>();
  Problem& problem = test::keep(make_problem(5, 4, [gate](int call) {
    if (call >= 10) gate->pass();
    return 0.0;
  }));
  Options options = options_for(Method::kAuto);
  options.clock = ClockKind::kReal;
  options.delay = "none";
  options.max_staleness = 2;
  options.iterations = 100000;
  options.worker_failure = WorkerFailurePolicy::kFail;
  options.worker_deadline_seconds = 0.3;
  const Result result = Solver(options).solve(problem);
  CHECK(result.summary.termination == Termination::kFailed);
  CHECK(result.summary.message.find("worker 4, iteration") == 0);
  CHECK(result.summary.message.find("no answer within 0.3 s") != std::string::npos);
  gate->open();
}

TEST_CASE("checkpoints made while a deadline passes can be gone on from") {
  class KeepEach final : public CheckpointSink {
   public:
    bool is_due(std::int64_t) override { return true; }
    void store(std::int64_t, std::span<const std::byte> image) override {
      images.emplace_back(image.begin(), image.end());
    }
    std::vector<std::vector<std::byte>> images;
  };
  for (const Method method : {Method::kAuto, Method::kSdbo, Method::kAdbo, Method::kAidCg}) {
    for (const WorkerFailurePolicy policy : {WorkerFailurePolicy::kFail, WorkerFailurePolicy::kDrop}) {
      const auto gate = std::make_shared<Gate>();
      Problem& problem = test::keep(make_problem(4, 2, [gate](int call) {
        if (call >= 6) gate->pass();
        return 0.0;
      }));
      Options options = options_for(method);
      options.iterations = 30;
      options.worker_failure = policy;
      options.worker_deadline_seconds = 0.05;
      KeepEach kept;
      const Result result = Solver(options).solve(problem, nullptr, &kept);
      const bool fails = policy == WorkerFailurePolicy::kFail;
      CHECK(result.summary.termination == (fails ? Termination::kFailed : Termination::kIterationLimit));
      gate->open();
      REQUIRE(kept.images.size() > 2);
      options.worker_deadline_seconds = 0;
      Problem sound = make_problem(4, 2, nullptr);
      const Result straight = Solver(options).solve(sound);
      for (const std::vector<std::byte>& image : kept.images) {
        Problem again = make_problem(4, 2, nullptr);
        const Result resumed = Solver(options).resume(again, image);
        REQUIRE_MESSAGE(resumed.status.ok(), resumed.status.message());
        CHECK(resumed.summary.iterations == 30);
        if (fails) CHECK(resumed.upper == straight.upper);
      }
    }
  }
}

TEST_CASE("all threads held by workers that never answer: the run ends") {
  const auto gate = std::make_shared<Gate>();
  Problem& problem = test::keep(make_problem(4, 0, [gate](int call) {
    if (call >= 5) gate->pass();
    return 0.0;
  }));
  Options options = options_for(Method::kAuto);
  options.threads = 1;
  options.iterations = 50;
  options.worker_deadline_seconds = 0.2;
  const Result result = Solver(options).solve(problem);
  CHECK(result.summary.termination == Termination::kFailed);
  CHECK(result.summary.message.find("no worker is left") == 0);
  gate->open();
}

TEST_CASE("a slow master does not give live workers up") {
  class SlowObserver final : public Observer {
   public:
    ObserverAction on_iteration(const IterationView&) override {
      std::this_thread::sleep_for(std::chrono::milliseconds(60));
      return ObserverAction::kContinue;
    }
  };
  Options options = options_for(Method::kAuto);
  options.clock = ClockKind::kReal;
  options.delay = "none";
  options.iterations = 12;
  options.worker_deadline_seconds = 0.04;
  Problem problem = make_problem(5, 9, nullptr);
  SlowObserver observer;
  const Result result = Solver(options).solve(problem, &observer);
  CHECK(result.summary.termination == Termination::kIterationLimit);
  CHECK(result.summary.dropped_workers.empty());
}

TEST_CASE("while the master waits, the observer learns for whom and how long") {
  Gate gate;
  std::thread opener([&gate] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5600));
    gate.open();
  });
  Problem problem = make_problem(3, 1, [&gate](int call) {
    if (call == 6) gate.pass();
    return 0.0;
  });
  Options options = options_for(Method::kSdbo);
  options.clock = ClockKind::kReal;
  options.delay = "none";
  options.iterations = 30;
  Watcher watcher;
  const Result result = Solver(options).solve(problem, &watcher);
  opener.join();
  CHECK(result.summary.termination == Termination::kIterationLimit);
  CHECK(watcher.awaited == 1);
  CHECK(watcher.waited >= 4.9);
}

TEST_CASE("a dropped worker stays away after a resume") {
  class Keep final : public CheckpointSink {
   public:
    explicit Keep(std::int64_t at) : at_(at) {}
    bool is_due(std::int64_t iteration) override { return iteration == at_; }
    void store(std::int64_t, std::span<const std::byte> from) override {
      image.assign(from.begin(), from.end());
    }
    std::vector<std::byte> image;

   private:
    std::int64_t at_;
  };
  const auto check = [](Method method, int first_failure, std::int64_t kept_at) {
    Options options = options_for(method);
    options.iterations = 2 * kept_at;
    options.cut_interval = 6;
    const auto fails = [=](int call) { return throw_from(call, first_failure); };
    Problem problem = make_problem(5, 2, fails), again = make_problem(5, 2, fails);
    Keep keep(kept_at);
    const Result straight = Solver(options).solve(problem, nullptr, &keep);
    REQUIRE(straight.summary.dropped_workers.size() == 1);
    REQUIRE_FALSE(keep.image.empty());
    const Result resumed = Solver(options).resume(again, keep.image);
    REQUIRE_MESSAGE(resumed.status.ok(), resumed.status.message());
    CHECK(resumed.upper == straight.upper);
    CHECK(resumed.summary.dropped_workers.size() == 1);
  };
  for (const Method method : {Method::kAuto, Method::kSdbo, Method::kAidCg, Method::kSaba})
    check(method, 8, 40);
  // One that fails at once.
  for (const MethodInfo& info : method_table()) {
    if (info.method == Method::kDsbo || info.method == Method::kSpdb || info.method == Method::kAuto)
      continue;
    CAPTURE(info.name);
    check(info.method, 1, 1);
  }
}
