#pragma once
// One run of the engine with everything that an observer can see.

#include <cstddef>
#include <vector>

#include "adbo/observer.h"
#include "adbo/options.h"
#include "adbo/problem.h"
#include "adbo/solver.h"

namespace adbo::conformance {

struct Observed {
  TraceRecord record;
  std::vector<double> upper, lower;  // v, z
};

class Recorder final : public Observer {
 public:
  ObserverAction on_iteration(const IterationView& view) override {
    seen.push_back(
        {view.record, {view.upper.begin(), view.upper.end()}, {view.lower.begin(), view.lower.end()}});
    return ObserverAction::kContinue;
  }
  std::vector<Observed> seen;  // the first is that before the first iteration
};

struct EngineRun {
  Result result;
  std::vector<Observed> seen;
};

inline EngineRun run_engine(Problem& problem, const Options& options) {
  Recorder recorder;
  Result result = Solver(options).solve(problem, &recorder);
  return {std::move(result), std::move(recorder.seen)};
}

}  // namespace adbo::conformance
