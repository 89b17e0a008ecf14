#include "commands/clean.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "output/row_files.h"
#include "output/words.h"
#include "tasks/corruption.h"
#include "tasks/datasets.h"
#include "tasks/holdout.h"
#include "tasks/shards.h"
#include "tasks/starts.h"

namespace adbo::app {
namespace {

/// Gradient norm that changes no test accuracy by more than the rows can resolve. 1e-3 would be a third
/// cheaper, but moved accuracies by up to 0.001 (docs/cleaning.md).
constexpr double kAutomaticTolerance = 1e-4;

/// Everything that outlives the preparation. Training rows stand shard after shard, which is their order in
/// the file.
struct CleaningTask {
  std::vector<CleaningShard> shards;  ///< with all validation rows, held-out ones included
  LabelledRows held_out;              ///< empty: none
  CleaningSettings settings;
  LabelledRows test;  ///< empty: none
  std::vector<std::string> label_names, ids, feature_names;
  std::vector<std::size_t> rows, workers;  ///< [n] of every training row: its row of the file, its worker
  std::vector<std::int32_t> given_labels;  ///< [n]
  Corruption corruption;                   ///< empty lists unless the run made one
  Scaling scaling;
  std::size_t features = 0;
  ResolveOptions resolve;
  DeliverRule deliver = DeliverRule::kTrimmed;
  CleaningFacts facts;
};

std::int64_t count_marks(const std::vector<std::uint8_t>& marks) {
  return std::count(marks.begin(), marks.end(), std::uint8_t{1});
}

void list_training_rows(CleaningTask& task, const std::vector<ShardRows>& shards, const io::Table& table) {
  for (std::size_t i = 0; i < shards.size(); ++i) {
    for (const std::size_t row : shards[i].train) {
      task.rows.push_back(row);
      task.workers.push_back(i);
      task.given_labels.push_back(table.labels[row]);
    }
  }
}

/// The labels that training uses, [rows of the file].
std::vector<std::int32_t> corrupted_labels(CleaningTask& task, const std::vector<ShardRows>& shards,
                                           const io::Table& table, const Settings& settings) {
  std::vector<std::int32_t> labels = table.labels;
  if (settings.task().corrupt == 0) return labels;
  std::vector<std::size_t> sizes;
  for (const ShardRows& shard : shards) sizes.push_back(shard.train.size());
  task.corruption = corrupt_labels(task.given_labels, sizes, task.settings.classes, settings.task().corrupt,
                                   settings.task().corrupt_rule, settings.options().seed);
  task.given_labels = task.corruption.labels;
  for (std::size_t k = 0; k < task.rows.size(); ++k) labels[task.rows[k]] = task.given_labels[k];
  return labels;
}

void build_shards(CleaningTask& task, const std::vector<ShardRows>& shards, LoadedData& data,
                  const std::vector<std::int32_t>& training_labels) {
  const io::Table& validation = data.validation ? *data.validation : data.train;
  for (const ShardRows& shard : shards) {
    task.shards.push_back({select_labelled(data.train.features, training_labels, shard.train),
                           select_labelled(validation.features, validation.labels, shard.validation)});
  }
}

void add_preparation(Json& json, const CleaningTask& task) {
  std::size_t validation_rows = 0;
  for (const CleaningShard& shard : task.shards) validation_rows += shard.validation.size();
  json["training_rows"] = task.rows.size();
  json["validation_rows"] = validation_rows;
  json["held_out_rows"] = task.held_out.size();
  json["scaling"] = task.scaling.sentence;
  if (task.corruption.changed.empty()) return;
  json["corruption"] = {{"selected", count_marks(task.corruption.selected)},
                        {"changed", count_marks(task.corruption.changed)}};
}

CleaningMeasures measure(const CleaningTask& task, std::span<const double> upper_start,
                         const Result& result) {
  CleaningMeasuresInput input;
  input.deliver = task.deliver;
  input.shards = &task.shards;
  input.settings = task.settings;
  input.upper = result.upper;
  input.upper_start = upper_start;
  input.lower_consensus = result.lower;
  input.test = task.test.size() > 0 ? &task.test : nullptr;
  input.label_changed = task.corruption.changed;
  return measure_cleaning(input, task.resolve);
}

Metrics metrics_of(const CleaningMeasures& m) {
  return {{"value_function", m.value_function},
          {"value_function_start", m.value_function_start},
          {"value_function_true_mask", m.value_function_true_mask},
          {"test_accuracy_delivered", m.test_accuracy_delivered},
          {"test_accuracy_retrained", m.test_accuracy_retrained},
          {"test_accuracy_start", m.test_accuracy_start},
          {"test_accuracy_validation_only", m.test_accuracy_validation_only},
          {"test_accuracy_true_mask", m.test_accuracy_true_mask},
          {"test_accuracy_at_consensus", m.test_accuracy_at_consensus},
          {"test_loss_at_consensus", m.test_loss_at_consensus},
          {"effective_training_rows", m.effective_training_rows},
          {"detection_auc", m.detection_auc},
          {"detection_auc_weight", m.detection_auc_weight},
          {"detection_auc_plain", m.detection_auc_plain},
          {"detection_precision", m.detection_precision},
          {"detection_recall", m.detection_recall},
          {"detection_f1", m.detection_f1}};
}

void write_files(const CleaningTask& task, const Result& result, const CleaningMeasures& measures,
                 const OutputFolder& folder) {
  SuspectRows rows;
  rows.label_names = task.label_names;
  rows.ids = task.ids;
  rows.rows = task.rows;
  rows.workers = task.workers;
  rows.given_labels = task.given_labels;
  rows.upper = result.upper;
  rows.verdicts = &measures.verdicts;
  rows.selected = task.corruption.selected;
  rows.changed = task.corruption.changed;
  write_suspects(folder.file("suspects.csv"), rows);
  write_model(folder.file("model.npy"), measures.delivered_model, task.features);
  write_scaling(folder.file("scaling.csv"), task.scaling, task.feature_names);
}

std::string suspects_sentence(const CleaningMeasures& measures) {
  const std::vector<std::uint8_t>& marks = measures.verdicts.is_suspect;
  return fmt::format("{} of {} training rows are suspect (suspects.csv).", count_marks(marks), marks.size());
}

Findings conclude(const CleaningTask& task, std::span<const double> upper_start, const Result& result,
                  const OutputFolder& folder) {
  const CleaningMeasures measures = measure(task, upper_start, result);
  write_files(task, result, measures, folder);
  Findings findings;
  findings.metrics = metrics_of(measures);
  findings.words = cleaning_words(measures, task.facts);
  findings.words.push_back(suspects_sentence(measures));
  findings.measure_seconds = measures.seconds;
  return findings;
}

StartPoint start_of(const CleaningTask& task, const Settings& settings) {
  if (settings.task().start == StartRule::kZero) return {};
  if (settings.task().start == StartRule::kCodeTune) {
    throw UsageError("start = \"code-tune\" is for tune: expected zero or code-clean");
  }
  return code_clean_start(task.features, task.settings.classes, task.shards.size(), settings.options().seed);
}

/// Fills the task from the data, whose features are gone afterwards; returns what the run learns from.
std::vector<CleaningShard> fill_task(CleaningTask& task, const Settings& settings, LoadedData data,
                                     const Console& console) {
  const std::vector<ShardRows> shards = shard_rows(settings, data);
  task.settings = {data.classes(), settings.task().ridge, settings.task().shard_weights};
  task.features = io::column_count(data.train);
  list_training_rows(task, shards, data.train);
  task.scaling = scale_data(data, settings.task().scale);
  console.detail(task.scaling.sentence);
  build_shards(task, shards, data, corrupted_labels(task, shards, data.train, settings));
  LearningData<CleaningShard> learning = learning_data(task.shards, shards, data, settings);
  task.held_out = std::move(learning.held_out);
  if (data.test) task.test = take_labelled(*data.test);
  task.label_names = std::move(data.train.label_names);
  task.ids = std::move(data.train.ids);
  task.feature_names = std::move(data.train.feature_names);
  task.resolve = resolve_options(settings, kAutomaticTolerance);
  task.deliver = settings.task().deliver;
  task.facts = {!data.validation.has_value(), task.resolve.gradient_tolerance};
  return std::move(learning.shards);
}

}  // namespace

PreparedTask prepare_cleaning(Settings& settings, const Console& console) {
  LoadedData data = load_data(settings.task(), console);
  settle_workers(settings, data);
  Json json = files_json(data);
  const double read_seconds = data.read_seconds;
  const auto task = std::make_shared<CleaningTask>();
  const std::vector<CleaningShard> learning = fill_task(*task, settings, std::move(data), console);
  add_preparation(json, *task);

  PreparedTask prepared;
  prepared.problem = make_hyper_cleaning(learning, task->settings);
  prepared.data = std::move(json);
  prepared.read_seconds = read_seconds;
  prepared.problem.set_start(start_of(*task, settings));
  if (task->test.size() > 0) {
    prepared.measures.test = [task](std::span<const double> lower) {
      return score_model(lower, task->test, task->settings.classes, kObserverThreads);
    };
  }
  if (task->held_out.size() > 0) {
    prepared.with_held_out = [task, start = prepared.problem.start()] {
      Problem problem = make_hyper_cleaning(task->shards, task->settings);
      problem.set_start(start);
      return problem;
    };
    prepared.measures.held_out = softmax_held_out_loss(task->held_out, task->settings.classes);
  }
  if (settings.task().resolve_every > 0) {
    prepared.measures.resolver = std::make_shared<PeriodicResolve>(
        make_hyper_cleaning(task->shards, task->settings), task->resolve, prepared.measures.test,
        settings.task().resolve_every, settings.options().iterations);
  }
  prepared.conclude = [task](Problem& problem, const Result& result, const OutputFolder& folder) {
    return conclude(*task, problem.start().upper, result, folder);
  };
  return prepared;
}

}  // namespace adbo::app
