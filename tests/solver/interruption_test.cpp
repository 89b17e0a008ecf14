// A run that is asked to stop while workers compute: what they compute at stays as it is until they are done,
// whichever memory the master's own computation had it from.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "adbo/adbo.h"

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

/// G = 1/2 |y - 1|^2 + 1/20 |x|^2, g = 1/2 |y - x|^2. Every evaluation of g from the `stop_at`-th one on
/// takes its time, and the first of them asks the run to stop.
class Watching final : public WorkerObjective {
 public:
  explicit Watching(Script& script) : script_(script) {}

  double upper(std::span<const double> x, std::span<const double> y, std::span<double> grad_x,
               std::span<double> grad_y) override {
    double value = 0;
    for (std::size_t k = 0; k < kSize; ++k) {
      grad_x[k] = 0.1 * x[k];
      grad_y[k] = y[k] - 1;
      value += 0.05 * x[k] * x[k] + 0.5 * grad_y[k] * grad_y[k];
    }
    return value;
  }
  double lower(std::span<const double> x, std::span<const double> y, std::span<double> grad_y) override {
    look_on(x, y);
    double value = 0;
    for (std::size_t k = 0; k < kSize; ++k) {
      grad_y[k] = y[k] - x[k];
      value += 0.5 * grad_y[k] * grad_y[k];
    }
    return value;
  }
  void lower_hessian_product(std::span<const double>, std::span<const double>, std::span<const double> u,
                             std::span<double> out) override {
    std::copy(u.begin(), u.end(), out.begin());
  }
  void lower_cross_product(std::span<const double>, std::span<const double>, std::span<const double> u,
                           std::span<double> out) override {
    std::transform(u.begin(), u.end(), out.begin(), [](double value) { return -value; });
  }

 private:
  void look_on(std::span<const double> x, std::span<const double> y) {
    const int call = ++script_.calls;
    if (call < script_.stop_at) return;
    const std::vector<double> upper(x.begin(), x.end()), lower(y.begin(), y.end());
    if (call == script_.stop_at) script_.solver->request_stop();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (!std::ranges::equal(upper, x) || !std::ranges::equal(lower, y)) script_.has_changed = true;
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
