// A recorded order of arrivals gives the run's bits again.

#include "adbo/arrivals.h"

#include <doctest/doctest.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "adbo/adbo.h"
#include "support/pull_to_two.h"

using namespace adbo;

namespace {

class Recording final : public ArrivalRecorder {
 public:
  void arrived(const Arrival& arrival) override { arrivals.push_back(arrival); }
  std::vector<Arrival> arrivals;
};

/// What does not depend on the machine's clocks, row by row.
class Tracer final : public Observer {
 public:
  ObserverAction on_iteration(const IterationView& view) override {
    TraceRecord record = view.record;
    std::vector<std::byte> bits;
    StateArchive archive = StateArchive::saving_to(bits);
    archive(record.iteration, record.upper_objective, record.lower_objective, record.lower_distance,
            record.stationarity_gap, record.cuts, record.active, record.max_staleness);
    records.push_back(bits);
    return ObserverAction::kContinue;
  }
  std::vector<std::vector<std::byte>> records;
};

/// Takes its time, another one at every call.
class Dawdling final : public test::PullToTwo {
 public:
  Dawdling(std::uint64_t stream, int fails_at) : random_(7, stream), fails_at_(fails_at) {}

 private:
  double before_upper() override {
    if (++calls_ == fails_at_) throw std::runtime_error("hiccup");
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(random_.below(400));
    while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
    return 0;
  }
  RandomStream random_;
  int fails_at_, calls_ = 0;
};

Problem make_problem(int fails_at = -1) {
  Problem problem(3, 3);
  for (std::uint64_t i = 0; i < 6; ++i) {
    problem.add_worker(std::make_unique<Dawdling>(i, i == 3 ? fails_at : -1));
  }
  return problem;
}

Options options_for(Method method) {
  Options options;
  options.method = method;
  options.clock = ClockKind::kReal;
  options.executor = ExecutorKind::kThreads;
  options.threads = 4;
  options.active_workers = 0;
  options.iterations = 60;
  options.cut_interval = 7;
  options.stationarity_interval = 9;
  options.step_upper = 0.1;
  return options;
}

struct Recorded {
  Result result;
  std::vector<std::vector<std::byte>> trace;
  std::vector<Arrival> arrivals;
};

Recorded record(const Options& options, int fails_at = -1) {
  Problem problem = make_problem(fails_at);
  Recording recording;
  Tracer tracer;
  Solver solver(options);
  solver.record(&recording);
  Recorded recorded;
  recorded.result = solver.solve(problem, &tracer);
  REQUIRE(recorded.result.status.ok());
  recorded.trace = tracer.records;
  recorded.arrivals = recording.arrivals;
  return recorded;
}

void check_replayed(Options options, const Recorded& recorded, int fails_at = -1) {
  for (const ExecutorKind executor : {ExecutorKind::kInline, ExecutorKind::kThreads, ExecutorKind::kTbb}) {
    options.executor = executor;
    options.threads = 2;
    Problem problem = make_problem(fails_at);
    Tracer tracer;
    Solver solver(options);
    solver.replay(recorded.arrivals);
    const Result result = solver.solve(problem, &tracer);
    REQUIRE(result.status.ok());
    CHECK(result.upper == recorded.result.upper);
    CHECK(result.lower == recorded.result.lower);
    CHECK(result.summary.iterations == recorded.result.summary.iterations);
    CHECK(result.summary.dropped_workers.size() == recorded.result.summary.dropped_workers.size());
    CHECK(tracer.records == recorded.trace);
  }
}

}  // namespace

TEST_CASE("a replayed run has the bits of the recorded one, whatever runs its workers") {
  for (const Method method : {Method::kAuto, Method::kAdbo, Method::kSdbo, Method::kFedNest, Method::kDsbo}) {
    for (const CutBarrier barrier : {CutBarrier::kHold, CutBarrier::kRestart}) {
      if (barrier == CutBarrier::kRestart && method != Method::kAdbo) continue;
      CAPTURE(method_name(method));
      Options options = options_for(method);
      options.cut_barrier = barrier;
      if (method == Method::kAdbo) options.cut_rule = CutRule::kAlways;
      check_replayed(options, record(options));
    }
  }
}

TEST_CASE("delays that are injected, failures, retries and dropped workers replay too") {
  Options options = options_for(Method::kAuto);
  options.delay = "lognormal:-1,1";
  options.stragglers = "2:4";
  check_replayed(options, record(options));
  options.worker_failure = WorkerFailurePolicy::kDrop;
  check_replayed(options, record(options, 5), 5);
  options.worker_retries = 1;
  check_replayed(options, record(options, 5), 5);
}

TEST_CASE("a run ends where its recording does, and a worker that is not there is refused") {
  const Options options = options_for(Method::kAuto);
  Recorded recorded = record(options);
  recorded.arrivals.resize(recorded.arrivals.size() / 2);
  Problem problem = make_problem();
  Solver solver(options);
  solver.replay(recorded.arrivals);
  const Result result = solver.solve(problem);
  CHECK(result.summary.termination == Termination::kStopped);
  CHECK(result.summary.message == "the recording ends here");
  CHECK(result.summary.iterations < 60);

  // A worker that has no answer under way: two in a row of one that was not asked in between.
  Recorded doubled = record(options);
  doubled.arrivals.insert(doubled.arrivals.begin() + 1, doubled.arrivals.front());
  Problem fresh = make_problem();
  solver.replay(doubled.arrivals);
  const Result refused = solver.solve(fresh);
  CHECK(refused.summary.termination == Termination::kFailed);
  CHECK(refused.summary.message.find("which has no answer under way") != std::string::npos);

  recorded.arrivals[3].worker = 6;
  solver.replay(recorded.arrivals);
  CHECK(solver.solve(problem).status.message() == "the recording names worker 6; the problem has 6");
}
