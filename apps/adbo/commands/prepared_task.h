#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adbo/measures.h"
#include "adbo/problem.h"
#include "execution/run_observer.h"
#include "output/output_folder.h"
#include "output/summary_json.h"
#include "settings/settings.h"

namespace adbo::app {

/// Where a run, or a baseline, ended.
struct State {
  std::vector<double> upper;  ///< [n]
  std::vector<double> lower;  ///< [m]
};

/// How far a state is to be measured.
struct MeasureRequest {
  MeasureDepth depth = MeasureDepth::kFull;
  std::function<bool()> give_up{};  ///< of kFull, as in ResolveOptions
  std::string why_quick{};          ///< of kQuick, for people: "measure = quick"

  /// The same re-solves, given up when this request says so.
  [[nodiscard]] ResolveOptions bounded(ResolveOptions options) const {
    options.give_up = give_up;
    return options;
  }
};

/// What came out of measuring a state.
struct Findings {
  Metrics metrics;
  std::vector<std::string> words;
  std::string no_value;  ///< why the value function is not among the metrics, where it is not
  double measure_seconds = 0;
};

/// What can be had without a bilevel method.
struct Baseline {
  std::string_view name;
  double seconds = 0;          ///< what computing it took
  std::optional<State> state;  ///< to be measured as a run's is; nothing: `metrics` are all there is
  Metrics metrics;
};

/// One split, corruption and start of some data, which any number of runs may share. A run has a problem and
/// measures of its own; every function may be called again, one at a time.
struct PreparedTask {
  std::function<Problem()> make_problem;
  std::function<Problem()> with_held_out;  ///< the same with the held-out rows; empty where there are none
  /// What a run with these settings is followed by.
  std::function<RunMeasures(const Settings&)> make_measures;
  Json data;                ///< the `data` part of summary.json
  double read_seconds = 0;  ///< 0: nothing was read
  /// Of the files, the split, the corruption and the start: equal where runs may be compared.
  std::string digest;
  /// What the iterates depend on besides the engine's options: settings and checksums, for checkpoints.
  std::vector<std::pair<std::string, std::string>> identity;
  /// Measures a state and writes the files that are the task's own. GivenUp, before anything is written,
  /// where the request says so.
  std::function<Findings(const State&, const OutputFolder&, const MeasureRequest&)> conclude;
  std::function<std::vector<Baseline>()> make_baselines;
};

/// Makes the functions of `prepared` from those of a kind of task: make_problem(task, shards),
/// make_measures(shared task, settings), conclude(task, state, folder, request) and make_baselines(task),
/// found beside the type. The task lives as long as any of them.
template <class Task>
void serve(PreparedTask& prepared, const std::shared_ptr<Task>& task) {
  prepared.make_problem = [task] { return make_problem(*task, task->data.learning); };
  if (task->data.held_out.size() > 0) {
    prepared.with_held_out = [task] { return make_problem(*task, task->data.shards); };
  }
  prepared.make_measures = [task](const Settings& given) { return make_measures(task, given); };
  prepared.conclude = [task](const State& state, const OutputFolder& folder, const MeasureRequest& request) {
    return conclude(*task, state, folder, request);
  };
  prepared.make_baselines = [task] { return make_baselines(*task); };
}

}  // namespace adbo::app
