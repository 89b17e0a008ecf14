// Workers that still compute while the run is stopped, or goes on without them: what they compute at stays as
// it is until they are done, whichever memory the master's own computation had it from.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "adbo/adbo.h"
#include "support/outliving.h"
#include "support/pull_to_two.h"

using namespace adbo;

namespace {

constexpr std::size_t kSize = 600;

/// Shared by the workers of one run.
struct Script {
  std::atomic<int> calls{0};
  int stop_at = 0;
  std::atomic<bool> has_changed{false};
  Solver* solver = nullptr;
};

/// PullToTwo with products of its own, so that every evaluation is at a point of the master's; what is
/// derived from it looks at each.
class Watched : public test::PullToTwo {
 public:
  double upper(std::span<const double> x, std::span<const double> y, std::span<double> grad_x,
               std::span<double> grad_y) final {
    look_on(x, y, {});
    return PullToTwo::upper(x, y, grad_x, grad_y);
  }
  double lower(std::span<const double> x, std::span<const double> y, std::span<double> grad_y) final {
    look_on(x, y, {});
    return PullToTwo::lower(x, y, grad_y);
  }
  void lower_hessian_product(std::span<const double> x, std::span<const double> y, std::span<const double> u,
                             std::span<double> out) final {
    look_on(x, y, u);
    std::copy(u.begin(), u.end(), out.begin());
  }
  void lower_cross_product(std::span<const double> x, std::span<const double> y, std::span<const double> u,
                           std::span<double> out) final {
    look_on(x, y, u);
    std::transform(u.begin(), u.end(), out.begin(), [](double value) { return -value; });
  }

 private:
  virtual void look_on(std::span<const double> x, std::span<const double> y, std::span<const double> u) = 0;
};

/// A point as it was.
class Point {
 public:
  Point(std::span<const double> x, std::span<const double> y, std::span<const double> u) : now_{x, y, u} {
    for (const std::span<const double> part : now_) then_.emplace_back(part.begin(), part.end());
  }
  [[nodiscard]] bool has_changed() const {
    return !std::ranges::equal(now_, then_,
                               [](const auto& a, const auto& b) { return std::ranges::equal(a, b); });
  }

 private:
  std::array<std::span<const double>, 3> now_;
  std::vector<std::vector<double>> then_;
};

/// Every evaluation from the `stop_at`-th one on takes its time, and the first of them asks the run to stop.
class Watching final : public Watched {
 public:
  explicit Watching(Script& script) : script_(script) {}

 private:
  void look_on(std::span<const double> x, std::span<const double> y, std::span<const double> u) override {
    const int call = ++script_.calls;
    if (call < script_.stop_at) return;
    const Point point(x, y, u);
    if (call == script_.stop_at) script_.solver->request_stop();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (point.has_changed()) script_.has_changed = true;
  }

  Script& script_;
};

}  // namespace

TEST_CASE("a run that is stopped leaves workers what they compute at, every method") {
  for (const MethodInfo& info : method_table()) {
    if (info.method == Method::kAuto) continue;
    for (const int stop_at : {1, 4, 11}) {
      INFO(std::string(info.name), ", call ", stop_at);
      Script script;
      script.stop_at = stop_at;
      Problem problem(kSize, kSize);
      for (int i = 0; i < 3; ++i) problem.add_worker(std::make_unique<Watching>(script));
      Options options;
      options.method = info.method;
      options.executor = ExecutorKind::kThreads;
      options.threads = 3;
      options.iterations = 20;
      {
        Solver solver(options);
        script.solver = &solver;
        const Result result = solver.solve(problem);
        INFO(result.status.message());
        CHECK(result.status.ok());
      }
      CHECK_FALSE(script.has_changed);
    }
  }
}

namespace {

/// Of the worker that is given up.
struct LateWorker {
  std::atomic<int> calls{0};
  int late_at = 0;  ///< the call that takes too long
  std::atomic<bool> is_released{false}, is_done{false}, has_changed{false};
};

/// Lingers in one evaluation, whichever that is.
class Lingering final : public Watched {
 public:
  /// Null: never lingers.
  explicit Lingering(std::shared_ptr<LateWorker> late) : late_(std::move(late)) {}

 private:
  void look_on(std::span<const double> x, std::span<const double> y, std::span<const double> u) override {
    if (late_ == nullptr || ++late_->calls != late_->late_at) return;
    const Point point(x, y, u);
    while (!late_->is_released) {
      if (point.has_changed()) late_->has_changed = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    late_->is_done = true;
  }

  std::shared_ptr<LateWorker> late_;
};

/// Lets the late worker go a few iterations after it was given up.
class Releasing final : public Observer {
 public:
  explicit Releasing(LateWorker& late) : late_(late) {}
  ObserverAction on_iteration(const IterationView&) override {
    if (is_dropped_ && ++iterations_since_ == 6) late_.is_released = true;
    return ObserverAction::kContinue;
  }
  void on_dropped(const DroppedWorker&) override { is_dropped_ = true; }

 private:
  LateWorker& late_;
  bool is_dropped_ = false;
  int iterations_since_ = 0;
};

Options options_with_deadline(Method method) {
  Options options;
  options.method = method;
  options.executor = ExecutorKind::kThreads;
  options.threads = 4;
  options.iterations = 40;
  options.cut_interval = 2;
  options.stationarity_interval = 3;
  options.worker_failure = WorkerFailurePolicy::kDrop;
  options.worker_deadline_seconds = 0.15;
  return options;
}

/// The worker's `late_at`-th evaluation outlasts the deadline.
void check_late_worker(const Options& options, int late_at) {
  const auto late = std::make_shared<LateWorker>();
  late->late_at = late_at;
  Problem problem(8, 8);
  for (int i = 0; i < 4; ++i) problem.add_worker(std::make_unique<Lingering>(i == 2 ? late : nullptr));
  Releasing observer(*late);
  const Result result = Solver(options).solve(test::keep(std::move(problem)), &observer);
  INFO(result.status.message());
  CHECK(late->calls >= late_at);
  late->is_released = true;
  while (!late->is_done) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK_FALSE(late->has_changed);
}

}  // namespace

TEST_CASE("a worker that is given up keeps what it computes at while the others go on, every method") {
  for (const MethodInfo& info : method_table()) {
    if (info.method == Method::kAuto) continue;
    for (const int late_at : {2, 9}) {
      INFO(std::string(info.name), ", evaluation ", late_at);
      check_late_worker(options_with_deadline(info.method), late_at);
    }
  }
}

TEST_CASE("a worker that is given up while a cut is made, every way of making cuts") {
  for (const CutConstruction cuts : {CutConstruction::kUnrolled, CutConstruction::kImplicit}) {
    for (const CutGradient gradient : {CutGradient::kExact, CutGradient::kLocal}) {
      for (const int late_at : {3, 5, 9}) {
        INFO("implicit ", cuts == CutConstruction::kImplicit, ", exact gradient ",
             gradient == CutGradient::kExact, ", evaluation ", late_at);
        Options options = options_with_deadline(Method::kAdbo);
        options.cuts = cuts;
        options.cut_gradient = gradient;
        options.lower_rounds = 3;
        options.lower_copies = LowerCopies::kLocal;
        check_late_worker(options, late_at);
      }
    }
  }
}
