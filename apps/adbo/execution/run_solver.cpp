#include "execution/run_solver.h"

#include <algorithm>

namespace adbo::app {
namespace {

constexpr std::int64_t kDefaultTests = 200;

std::int64_t test_interval(const Settings& settings) {
  const std::int64_t given = settings.task().evaluate_every;
  return given > 0 ? given : std::max<std::int64_t>(1, settings.options().iterations / kDefaultTests);
}

/// Detaches the solver before it dies, exceptions included.
class Attachment {
 public:
  Attachment(StopSignal& stop, Solver& solver) : stop_(stop) { stop_.attach(&solver); }
  ~Attachment() { stop_.attach(nullptr); }
  Attachment(const Attachment&) = delete;
  Attachment& operator=(const Attachment&) = delete;

 private:
  StopSignal& stop_;
};

}  // namespace

Result run_solver(Problem& problem, const Settings& settings, const RunMeasures& measures,
                  const std::string& trace_path, StopSignal& stop, const Console& console) {
  const std::int64_t iterations = settings.options().iterations;
  TraceCsv trace(trace_path);
  Progress progress(console, settings.task().progress, iterations);
  RunObserver observer(trace, progress, stop, measures, test_interval(settings), iterations);
  Solver solver(settings.options());
  const Attachment attachment(stop, solver);
  Result result = solver.solve(problem, &observer);
  progress.finish();
  trace.finish();
  return result;
}

}  // namespace adbo::app
