#include "commands/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "execution/resolve_options.h"
#include "output/row_files.h"
#include "output/words.h"
#include "support/exit_code.h"
#include "tasks/starts.h"
#include "tasks/task_data.h"

namespace adbo::app {
namespace {

constexpr double kAutomaticTolerance = 1e-8;
constexpr double kNotApplicable = std::numeric_limits<double>::quiet_NaN();

struct TuningTask {
  TaskData<TuningShard> data;
  TuningSettings settings;
  UpperBounds bounds;
  StartPoint start;
  ResolveOptions resolve;
  std::optional<ValueFunction> at_start;  ///< once it is needed
};

TuningModel model_of(const TaskSettings& task, int classes) {
  if (task.model == ModelRule::kLogistic && classes != 2) {
    throw UsageError(
        fmt::format("model = logistic is for two classes, the data has {}: choose softmax, or one class "
                    "against the others with positive_class",
                    classes));
  }
  const bool softmax = task.model == ModelRule::kSoftmax || classes != 2;
  if (task.per_class && !softmax) {
    throw UsageError(
        "per_class needs model = softmax: the logistic model of two classes has one weight per feature");
  }
  return softmax ? TuningModel::kSoftmax : TuningModel::kLogistic;
}

TuningSettings tuning_settings(const TaskSettings& task, int classes) {
  TuningSettings settings;
  settings.model = model_of(task, classes);
  settings.classes = classes;
  settings.parametrization = task.parametrization;
  settings.penalty_factor = task.penalty_factor;
  settings.per_class = task.per_class;
  settings.shard_weights = task.shard_weights;
  return settings;
}

double coefficient(Parametrization parametrization, double psi) {
  switch (parametrization) {
    case Parametrization::kLinear:
      return psi;
    case Parametrization::kExp:
      return std::exp(psi);
    case Parametrization::kSoftplus:
      break;
  }
  return std::max(psi, 0.0) + std::log1p(std::exp(-std::abs(psi)));
}

ModelScore test_of(const TuningTask& task, std::span<const double> model) {
  if (task.data.test.size() == 0) return {kNotApplicable, kNotApplicable};
  return score_tuning_model(model, task.data.test, task.settings, task.resolve.threads);
}

/// Where the lower level has a solution it is tested; elsewhere nothing applies.
ModelScore test_of(const TuningTask& task, const ValueFunction& at) {
  if (!std::isfinite(at.upper_objective)) return {kNotApplicable, kNotApplicable};
  return test_of(task, at.lower);
}

void write_files(const TuningTask& task, const State& state, std::span<const double> model,
                 const OutputFolder& folder) {
  std::vector<double> coefficients;
  for (const double psi : state.upper) {
    coefficients.push_back(coefficient(task.settings.parametrization, psi));
  }
  write_coefficients(folder.file("coefficients.csv"), state.upper, coefficients, task.data.features,
                     task.data.feature_names, task.data.label_names);
  write_model(folder.file("model.npy"), model, task.data.features);
  write_scaling(folder.file("scaling.csv"), task.data.scaling, task.data.feature_names);
}

/// The problem of these shards with the bounds of psi that the settings ask for.
Problem make_problem(const TuningTask& task, const std::vector<TuningShard>& shards) {
  Problem problem = make_regularization_tuning(shards, task.settings);
  const UpperBounds bounds = settled(task.bounds, task.settings.parametrization);
  if (bounds.rule == BoundsRule::kGiven) problem.set_upper_bounds(bounds.lowest, bounds.highest);
  problem.set_start(task.start);
  return problem;
}

/// Methods move a start outside the bounds into them: what they begin with is what counts.
std::vector<double> start_within_bounds(const Problem& problem) {
  std::vector<double> upper = problem.start().upper;
  upper.resize(problem.upper_dim());
  problem.keep_within_bounds(upper);
  return upper;
}

/// A value function is the mean over all validation rows, held-out ones included.
const ValueFunction& value_at_start(TuningTask& task, Problem& whole, const ResolveOptions& resolve) {
  if (!task.at_start) task.at_start = value_function(whole, start_within_bounds(whole), {}, resolve);
  return *task.at_start;
}

/// Without a re-solve.
Findings conclude_quickly(const TuningTask& task, const State& state, const OutputFolder& folder,
                          std::string_view why) {
  const ModelScore score = test_of(task, state.lower);
  write_files(task, state, state.lower, folder);
  return {.metrics = {{"test_accuracy_at_consensus", score.accuracy}, {"test_loss_at_consensus", score.loss}},
          .words = {quick_words(why)},
          .no_value = {}};
}

Findings conclude(TuningTask& task, const State& state, const OutputFolder& folder,
                  const MeasureRequest& request) {
  if (request.depth == MeasureDepth::kQuick) {
    return conclude_quickly(task, state, folder, request.why_quick);
  }
  const ResolveOptions resolve = request.bounded(task.resolve);
  Problem whole = make_problem(task, task.data.shards);
  const bool start_is_new = !task.at_start;
  const ValueFunction& start = value_at_start(task, whole, resolve);
  const ValueFunction end = value_function(whole, state.upper, {}, resolve);
  const ModelScore start_score = test_of(task, start), end_score = test_of(task, end);
  const ModelScore consensus_score = test_of(task, state.lower);
  Findings findings;
  findings.measure_seconds = end.seconds + (start_is_new ? start.seconds : 0);
  findings.metrics = {{"value_function", end.upper_objective},
                      {"value_function_start", start.upper_objective},
                      {"test_accuracy_retrained", end_score.accuracy},
                      {"test_loss_retrained", end_score.loss},
                      {"test_accuracy_start", start_score.accuracy},
                      {"test_loss_start", start_score.loss},
                      {"test_accuracy_at_consensus", consensus_score.accuracy},
                      {"test_loss_at_consensus", consensus_score.loss}};
  findings.words =
      tuning_words(end, start, end_score.accuracy, start_score.accuracy, task.resolve.gradient_tolerance);
  if (const std::string guess = guess_words(end_score.accuracy, task.data.test.labels); !guess.empty()) {
    findings.words.push_back(guess);
  }
  const bool has_solution = std::isfinite(end.upper_objective);
  if (!has_solution) findings.no_value = trouble_words(end, "at the end");
  if (!has_solution)
    findings.words.push_back("model.npy holds the consensus model in place of a re-trained one.");
  write_files(task, state, has_solution ? end.lower : state.lower, folder);
  return findings;
}

std::vector<Baseline> make_baselines(TuningTask& task) {
  Problem whole = make_problem(task, task.data.shards);
  const ValueFunction& start = value_at_start(task, whole, task.resolve);
  return {{.name = "plain",
           .seconds = start.seconds,
           .state = State{start_within_bounds(whole), start.lower},
           .metrics = {}}};
}

StartPoint start_of(const TuningTask& task, const Settings& settings) {
  if (settings.task().start == StartRule::kZero) return {};
  if (settings.task().start == StartRule::kCodeClean) {
    throw UsageError("start = \"code-clean\" is for clean: expected zero or code-tune");
  }
  const Problem problem = make_regularization_tuning(task.data.shards, task.settings);
  return code_tune_start(problem.upper_dim(), problem.lower_dim(), task.settings.classes,
                         settings.options().seed);
}

RunMeasures make_measures(const std::shared_ptr<const TuningTask>& task, const Settings& settings) {
  RunMeasures measures;
  if (task->data.test.size() > 0) {
    measures.test = [task](std::span<const double> lower) {
      return score_tuning_model(lower, task->data.test, task->settings, kObserverThreads);
    };
  }
  if (task->data.held_out.size() > 0) {
    measures.held_out = [task](std::span<const double> /*upper*/, std::span<const double> lower) {
      return HeldOutValue{
          .loss = score_tuning_model(lower, task->data.held_out, task->settings, kObserverThreads).loss};
    };
  }
  if (settings.task().resolve_every > 0) {
    measures.resolver = std::make_shared<PeriodicResolve>(
        make_problem(*task, task->data.shards), task->resolve, measures.test, settings.task().resolve_every,
        settings.options().iterations);
  }
  return measures;
}

}  // namespace

PreparedTask prepare_tuning(Settings& settings, LoadedData data, const Console& console) {
  PreparedTask prepared;
  prepared.data = files_json(data);
  prepared.read_seconds = data.read_seconds;
  if (const std::int64_t pooled = settings.task().pool_rows; pooled > 0) {
    pool_rows(data, static_cast<std::size_t>(pooled), settings.options().seed);
  }
  settle_workers(settings, data);
  const std::vector<ShardRows> rows = shard_rows(settings, data);
  const std::vector<std::int32_t> labels = data.train.labels;
  const auto task = std::make_shared<TuningTask>();
  task->settings = tuning_settings(settings.task(), data.classes());
  task->bounds = settings.task().bounds;
  task->resolve = resolve_options(settings, kAutomaticTolerance);
  io::Digest digest = split_digest(settings, data, rows, labels);
  task->data = make_task_data<TuningShard>(settings, std::move(data), rows, labels, console);
  task->start = start_of(*task, settings);
  prepared.digest = add_start(digest, task->start).text();
  add_preparation(prepared.data, task->data);

  serve(prepared, task);
  return prepared;
}

}  // namespace adbo::app
