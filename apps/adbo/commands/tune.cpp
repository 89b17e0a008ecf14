#include "commands/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "output/row_files.h"
#include "output/words.h"
#include "tasks/datasets.h"
#include "tasks/holdout.h"
#include "tasks/shards.h"
#include "tasks/starts.h"

namespace adbo::app {
namespace {

constexpr double kAutomaticTolerance = 1e-8;
constexpr double kNotApplicable = std::numeric_limits<double>::quiet_NaN();

struct TuningTask {
  std::vector<TuningShard> shards;  ///< with all validation rows, held-out ones included
  LabelledRows held_out;            ///< empty: none
  TuningSettings settings;
  LabelledRows test;  ///< empty: none
  std::vector<std::string> label_names, feature_names;
  Scaling scaling;
  std::size_t features = 0;
  ResolveOptions resolve;
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

void build_shards(TuningTask& task, const std::vector<ShardRows>& shards, const LoadedData& data) {
  const io::Table& validation = data.validation ? *data.validation : data.train;
  for (const ShardRows& shard : shards) {
    task.shards.push_back({select_labelled(data.train.features, data.train.labels, shard.train),
                           select_labelled(validation.features, validation.labels, shard.validation)});
  }
}

/// Returns what the run learns from.
std::vector<TuningShard> fill_task(TuningTask& task, const Settings& settings, LoadedData data,
                                   const Console& console) {
  const std::vector<ShardRows> shards = shard_rows(settings, data);
  task.settings = tuning_settings(settings.task(), data.classes());
  task.features = io::column_count(data.train);
  task.scaling = scale_data(data, settings.task().scale);
  console.detail(task.scaling.sentence);
  build_shards(task, shards, data);
  LearningData<TuningShard> learning = learning_data(task.shards, shards, data, settings);
  task.held_out = std::move(learning.held_out);
  if (data.test) task.test = take_labelled(*data.test);
  task.label_names = std::move(data.train.label_names);
  task.feature_names = std::move(data.train.feature_names);
  task.resolve = resolve_options(settings, kAutomaticTolerance);
  return std::move(learning.shards);
}

void add_preparation(Json& json, const TuningTask& task) {
  std::size_t training_rows = 0, validation_rows = 0;
  for (const TuningShard& shard : task.shards) {
    training_rows += shard.train.size();
    validation_rows += shard.validation.size();
  }
  json["training_rows"] = training_rows;
  json["validation_rows"] = validation_rows;
  json["held_out_rows"] = task.held_out.size();
  json["scaling"] = task.scaling.sentence;
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

/// Where the lower level has a solution it is tested; elsewhere nothing applies.
ModelScore test_of(const TuningTask& task, const ValueFunction& at) {
  if (task.test.size() == 0 || !std::isfinite(at.upper_objective)) return {kNotApplicable, kNotApplicable};
  return score_tuning_model(at.lower, task.test, task.settings, task.resolve.threads);
}

void write_files(const TuningTask& task, const Result& result, std::span<const double> model,
                 const OutputFolder& folder) {
  std::vector<double> coefficients;
  for (const double psi : result.upper)
    coefficients.push_back(coefficient(task.settings.parametrization, psi));
  write_coefficients(folder.file("coefficients.csv"), result.upper, coefficients, task.features,
                     task.feature_names, task.label_names);
  write_model(folder.file("model.npy"), model, task.features);
  write_scaling(folder.file("scaling.csv"), task.scaling, task.feature_names);
}

Findings conclude(const TuningTask& task, const Problem& run_problem, const Result& result,
                  const OutputFolder& folder) {
  // The run's own problem lacks the held-out rows; a value function is the mean over all validation rows.
  Problem problem = make_regularization_tuning(task.shards, task.settings);
  // Methods move a start outside the bounds into them: what they begin with is what counts.
  std::vector<double> start_upper = run_problem.start().upper;
  start_upper.resize(problem.upper_dim());
  run_problem.keep_within_bounds(start_upper);
  const ValueFunction start = value_function(problem, start_upper, {}, task.resolve);
  const ValueFunction end = value_function(problem, result.upper, {}, task.resolve);
  const ModelScore start_score = test_of(task, start);
  const ModelScore end_score = test_of(task, end);
  ModelScore consensus_score{kNotApplicable, kNotApplicable};
  if (task.test.size() > 0) {
    consensus_score = score_tuning_model(result.lower, task.test, task.settings, task.resolve.threads);
  }
  Findings findings;
  findings.measure_seconds = start.seconds + end.seconds;
  findings.metrics = {{"value_function", end.upper_objective},
                      {"value_function_start", start.upper_objective},
                      {"test_accuracy_retrained", end_score.accuracy},
                      {"test_loss_retrained", end_score.loss},
                      {"test_accuracy_start", start_score.accuracy},
                      {"test_loss_start", start_score.loss},
                      {"test_accuracy_at_consensus", consensus_score.accuracy},
                      {"test_loss_at_consensus", consensus_score.loss}};
  findings.words = tuning_words(end, start, end_score.accuracy, start_score.accuracy);
  const bool has_solution = std::isfinite(end.upper_objective);
  if (!has_solution)
    findings.words.push_back("model.npy holds the consensus model in place of a re-trained one.");
  write_files(task, result, has_solution ? std::span<const double>(end.lower) : result.lower, folder);
  return findings;
}

/// The problem with the bounds of psi that the settings ask for.
Problem make_problem(const std::vector<TuningShard>& shards, const TuningTask& task,
                     const TaskSettings& settings) {
  Problem problem = make_regularization_tuning(shards, task.settings);
  const UpperBounds& bounds = settings.bounds;
  if (bounds.rule == BoundsRule::kGiven) {
    problem.set_upper_bounds(bounds.lowest, bounds.highest);
  } else if (bounds.rule == BoundsRule::kAuto && settings.parametrization != Parametrization::kLinear) {
    problem.set_upper_bounds(-kDefaultBound, kDefaultBound);
  }
  return problem;
}

StartPoint start_of(const TuningTask& task, const Problem& problem, const Settings& settings) {
  if (settings.task().start == StartRule::kZero) return {};
  if (settings.task().start == StartRule::kCodeClean) {
    throw UsageError("start = \"code-clean\" is for clean: expected zero or code-tune");
  }
  return code_tune_start(problem.upper_dim(), problem.lower_dim(), task.settings.classes,
                         settings.options().seed);
}

}  // namespace

PreparedTask prepare_tuning(Settings& settings, const Console& console) {
  LoadedData data = load_data(settings.task(), console);
  Json json = files_json(data);
  const double read_seconds = data.read_seconds;
  if (const std::int64_t pooled = settings.task().pool_rows; pooled > 0) {
    pool_rows(data, static_cast<std::size_t>(pooled), settings.options().seed);
  }
  settle_workers(settings, data);
  const auto task = std::make_shared<TuningTask>();
  const std::vector<TuningShard> learning = fill_task(*task, settings, std::move(data), console);
  add_preparation(json, *task);

  PreparedTask prepared;
  prepared.problem = make_problem(learning, *task, settings.task());
  prepared.data = std::move(json);
  prepared.read_seconds = read_seconds;
  prepared.problem.set_start(start_of(*task, prepared.problem, settings));
  if (task->test.size() > 0) {
    prepared.measures.test = [task](std::span<const double> lower) {
      return score_tuning_model(lower, task->test, task->settings, kObserverThreads);
    };
  }
  if (task->held_out.size() > 0) {
    prepared.with_held_out = [task, start = prepared.problem.start(), given = settings.task()] {
      Problem problem = make_problem(task->shards, *task, given);
      problem.set_start(start);
      return problem;
    };
    prepared.measures.held_out = [task](std::span<const double> /*upper*/, std::span<const double> lower) {
      const ModelScore score = score_tuning_model(lower, task->held_out, task->settings, kObserverThreads);
      return HeldOutValue{.loss = score.loss};
    };
  }
  if (settings.task().resolve_every > 0) {
    prepared.measures.resolver = std::make_shared<PeriodicResolve>(
        make_problem(task->shards, *task, settings.task()), task->resolve, prepared.measures.test,
        settings.task().resolve_every, settings.options().iterations);
  }
  prepared.conclude = [task](Problem& problem, const Result& result, const OutputFolder& folder) {
    return conclude(*task, problem, result, folder);
  };
  return prepared;
}

}  // namespace adbo::app
