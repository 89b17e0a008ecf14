#include "adbo/solver.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "adbo/adbo.h"

using namespace adbo;

namespace {

constexpr ExecutorKind kKinds[] = {ExecutorKind::kInline, ExecutorKind::kThreads, ExecutorKind::kTbb};

/// G = 1/2 ||y - x||^2, g = 1/2 ||y||^2; misbehaves on call `at` in the way asked for.
class Misbehaving final : public WorkerObjective {
 public:
  enum class How { kNot, kThrow, kThrowInt, kNan, kInfiniteGradient, kExplode, kLowerThrows };
  Misbehaving(How how, int at) : how_(how), at_(at) {}
  double upper(std::span<const double> x, std::span<const double> y, std::span<double> grad_x,
               std::span<double> grad_y) override {
    const bool now = ++calls_ == at_;
    if (now && how_ == How::kThrow) throw std::runtime_error("the data base is gone");
    if (now && how_ == How::kThrowInt) throw 7;
    double value = 0;
    for (std::size_t k = 0; k < y.size(); ++k) {
      value += (y[k] - x[k]) * (y[k] - x[k]) / 2;
      grad_y[k] = y[k] - x[k];
      grad_x[k] = how_ == How::kExplode ? -1e300 * x[k] - 1e300 : x[k] - y[k];
    }
    if (now && how_ == How::kInfiniteGradient) grad_y[0] = std::numeric_limits<double>::infinity();
    return now && how_ == How::kNan ? std::nan("") : value;
  }
  double lower(std::span<const double>, std::span<const double> y, std::span<double> grad_y) override {
    if (how_ == How::kLowerThrows) throw std::runtime_error("no lower level today");
    double value = 0;
    for (std::size_t k = 0; k < y.size(); ++k) {
      value += y[k] * y[k] / 2;
      grad_y[k] = y[k];
    }
    return value;
  }

 private:
  How how_;
  int at_, calls_ = 0;
};

using How = Misbehaving::How;

Problem make_problem(How how, int at, std::size_t workers = 4) {
  Problem problem(2, 2);
  for (std::size_t i = 0; i < workers; ++i) {
    problem.add_worker(std::make_unique<Misbehaving>(i == 2 ? how : How::kNot, at));
  }
  problem.set_start({.upper = {1, 2}, .lower = {}, .lower_local = {}, .consensus_dual = {}});
  return problem;
}

Options quick_options(ExecutorKind executor) {
  Options options;
  options.method = Method::kAdbo;
  options.executor = executor;
  options.clock = ClockKind::kVirtual;
  options.delay = "lognormal:0,1";
  options.iterations = 60;
  options.cut_interval = 10;
  options.threads = 2;
  return options;
}

class StopAt final : public Observer {
 public:
  explicit StopAt(std::int64_t iteration, ObserverAction action) : iteration_(iteration), action_(action) {}
  ObserverAction on_iteration(const IterationView& view) override {
    if (view.record.iteration < iteration_) return ObserverAction::kContinue;
    if (action_ == ObserverAction::kContinue) throw std::runtime_error("the observer has seen enough");
    return action_;
  }

 private:
  std::int64_t iteration_;
  ObserverAction action_;
};

}  // namespace

TEST_CASE("solver: bad options are refused before anything runs") {
  Problem problem = make_problem(How::kThrow, 1);
  Options options;
  options.active_workers = 5;  // of 4
  const Result result = Solver(options).solve(problem);
  CHECK(result.status.code() == StatusCode::kInvalidOption);
  CHECK(result.status.message().find("5") != std::string::npos);
  CHECK(result.status.message().find("4") != std::string::npos);
  CHECK(result.summary.termination == Termination::kNotRun);

  Problem empty(2, 2);
  CHECK(Solver(Options{}).solve(empty).status.code() == StatusCode::kInvalidProblem);
}

TEST_CASE("solver: an exception ends the run in order, naming worker and iteration") {
  for (const ExecutorKind kind : kKinds) {
    Problem problem = make_problem(How::kThrow, 5);
    const Result result = Solver(quick_options(kind)).solve(problem);
    CHECK(result.status.ok());
    CHECK(result.summary.termination == Termination::kFailed);
    CHECK(result.summary.message.find("worker 2, iteration ") != std::string::npos);
    CHECK(result.summary.message.find("the data base is gone") != std::string::npos);
    CHECK(std::isfinite(result.upper[0]));

    Problem odd = make_problem(How::kThrowInt, 5);
    CHECK(Solver(quick_options(kind)).solve(odd).summary.termination == Termination::kFailed);
    Problem lower = make_problem(How::kLowerThrows, 0);
    const Result in_round = Solver(quick_options(kind)).solve(lower);
    CHECK(in_round.summary.termination == Termination::kFailed);
    CHECK(in_round.summary.message.find("worker 2, iteration 10: no lower level today") != std::string::npos);
  }
}

TEST_CASE("solver: a value or an iterate that is not finite is a divergence; the result is finite") {
  for (const ExecutorKind kind : kKinds) {
    for (const How how : {How::kNan, How::kInfiniteGradient, How::kExplode}) {
      Problem problem = make_problem(how, 3);
      const Result result = Solver(quick_options(kind)).solve(problem);
      CHECK(result.summary.termination == Termination::kDiverged);
      CAPTURE(result.summary.message);
      CHECK(result.summary.message.starts_with("worker 2, iteration "));
      const auto says = [&](const char* piece) {
        return result.summary.message.find(piece) != std::string::npos;
      };
      CHECK_UNARY(says("not finite") || says("is nan") || says("is inf") || says("running away"));
      for (const double value : result.upper) CHECK(std::isfinite(value));
      for (const double value : result.lower) CHECK(std::isfinite(value));
    }
  }
}

TEST_CASE("solver: zero iterations return the start") {
  Problem problem = make_problem(How::kThrow, 1);
  Options options = quick_options(ExecutorKind::kTbb);
  options.iterations = 0;
  const Result result = Solver(options).solve(problem);
  CHECK(result.summary.termination == Termination::kIterationLimit);
  CHECK(result.upper == std::vector<double>{1, 2});
  CHECK(result.summary.upper_change_max == 0);
}

TEST_CASE("solver: the summary says what was given and what was used") {
  Problem problem = make_problem(How::kNot, 0, 5);
  Options options = quick_options(ExecutorKind::kThreads);
  const Result result = Solver(options).solve(problem);
  const Summary& summary = result.summary;
  CHECK(summary.termination == Termination::kIterationLimit);
  CHECK(summary.method_used == Method::kAdbo);
  CHECK(summary.active_workers == 3);  // half of 5, rounded up
  CHECK(summary.threads_given == 2);
  CHECK(summary.threads_used == 2);
  CHECK(summary.iterations == 60);
  CHECK(summary.counts.upper_gradients == 60 * 3);
  CHECK(summary.counts.lower_gradients == 6 * 5);
  CHECK(summary.barrier_virtual_seconds > 0);
  CHECK(summary.virtual_seconds > summary.barrier_virtual_seconds);
  std::int64_t answers = 0;
  for (const std::int64_t count : summary.staleness_histogram) answers += count;
  CHECK(answers == 60 * 3);
  CHECK(summary.one_line().find("iteration_limit") != std::string::npos);
  CHECK(summary.full_report().find("workers 5") != std::string::npos);

  options.method = Method::kSdbo;
  Problem again = make_problem(How::kNot, 0, 5);
  const Result synchronous = Solver(options).solve(again);
  CHECK(synchronous.summary.active_workers == 5);
  CHECK(synchronous.summary.staleness_histogram[0] == 60 * 5);
}

TEST_CASE("solver: observers stop, abort, or throw; the run ends in order") {
  for (const ExecutorKind kind : kKinds) {
    Problem problem = make_problem(How::kNot, 0);
    StopAt stop(7, ObserverAction::kStop);
    const Result result = Solver(quick_options(kind)).solve(problem, &stop);
    CHECK(result.summary.termination == Termination::kStopped);
    CHECK(result.summary.iterations == 7);
    StopAt thrower(7, ObserverAction::kContinue);
    Solver solver(quick_options(kind));
    CHECK_THROWS_WITH((void)solver.solve(problem, &thrower), "the observer has seen enough");
  }
}

TEST_CASE(
    "solver: a stop request from another thread and a time limit end a run whose answers are minutes away") {
  using clock = std::chrono::steady_clock;
  Options options = quick_options(ExecutorKind::kThreads);
  options.clock = ClockKind::kReal;
  options.delay = "lognormal:12,0";  // 163 seconds
  Problem problem = make_problem(How::kNot, 0);

  Solver solver(options);
  const auto start = clock::now();
  std::thread stopper([&solver] { solver.request_stop(); });
  const Result stopped = solver.solve(problem);
  stopper.join();
  CHECK(stopped.summary.termination == Termination::kStopped);

  options.time_limit_seconds = 0.2;
  const Result limited = Solver(options).solve(problem);
  CHECK(limited.summary.termination == Termination::kTimeLimit);
  CHECK(limited.summary.iterations == 0);
  CHECK(std::chrono::duration<double>(clock::now() - start).count() < 20);
}

TEST_CASE("solver: the upper variable stays within its bounds") {
  Problem problem = make_problem(How::kNot, 0);
  problem.set_upper_bounds(0.5, 1.5);
  Options options = quick_options(ExecutorKind::kTbb);
  options.step_upper_consensus = 10;  // wild on purpose
  options.step_upper_local = 0.1;
  options.step_consensus_dual = 1;
  options.iterations = 200;
  const Result result = Solver(options).solve(problem);
  for (const double value : result.upper) CHECK_UNARY(value >= 0.5 && value <= 1.5);
}

TEST_CASE("solver: more workers than threads, tiny steps, real clock: every step is answered") {
  for (const ExecutorKind kind : kKinds) {
    Problem problem = make_problem(How::kNot, 0, 100);
    Options options = quick_options(kind);
    options.clock = ClockKind::kReal;
    options.delay = "none";
    options.active_workers = 30;
    options.iterations = 300;
    options.max_staleness = 8;
    const Result result = Solver(options).solve(problem);
    CHECK(result.summary.termination == Termination::kIterationLimit);
    CHECK(result.summary.counts.upper_gradients >= 300 * 30);
  }
}
