#include "commands/clean.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "execution/resolve_options.h"
#include "output/gallery.h"
#include "output/row_files.h"
#include "output/words.h"
#include "support/exit_code.h"
#include "tasks/corruption.h"
#include "tasks/starts.h"
#include "tasks/task_data.h"

namespace adbo::app {
namespace {

/// Gradient norm that changes no test accuracy by more than the rows can resolve. 1e-3 would be a third
/// cheaper, but moved accuracies by up to 0.001 (docs/cleaning.md).
constexpr double kAutomaticTolerance = 1e-4;

/// One split, corruption and start. Training rows stand shard after shard, which is their order in the file.
struct CleaningTask {
  TaskData<CleaningShard> data;
  CleaningSettings settings;
  StartPoint start;
  std::vector<std::size_t> rows, workers;  ///< [n] of every training row: its row of the file, its worker
  std::vector<std::int32_t> given_labels;  ///< [n]
  Corruption corruption;                   ///< empty lists unless the run made one
  ResolveOptions resolve;
  DeliverRule deliver = DeliverRule::kTrimmed;
  CleaningFacts facts;
  std::optional<CleaningBaselines> baselines;  ///< once they are needed
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

CleaningMeasuresInput measures_input(const CleaningTask& task) {
  CleaningMeasuresInput input;
  input.deliver = task.deliver;
  input.shards = &task.data.shards;
  input.settings = task.settings;
  input.upper_start = task.start.upper;
  input.test = task.data.test.size() > 0 ? &task.data.test : nullptr;
  input.label_changed = task.corruption.changed;
  return input;
}

const CleaningBaselines& baselines_of(CleaningTask& task, const ResolveOptions& resolve) {
  if (!task.baselines) task.baselines = fit_cleaning_baselines(measures_input(task), resolve);
  return *task.baselines;
}

CleaningMeasures measure(CleaningTask& task, const State& state, const MeasureRequest& request) {
  const ResolveOptions resolve = request.bounded(task.resolve);
  CleaningMeasuresInput input = measures_input(task);
  input.upper = state.upper;
  input.lower_consensus = state.lower;
  input.depth = request.depth;
  if (request.depth == MeasureDepth::kFull) input.baselines = &baselines_of(task, resolve);
  return measure_cleaning(input, resolve);
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

void write_files(const CleaningTask& task, const State& state, const CleaningMeasures& measures,
                 const OutputFolder& folder) {
  SuspectRows rows;
  rows.label_names = task.data.label_names;
  rows.ids = task.data.ids;
  rows.rows = task.rows;
  rows.workers = task.workers;
  rows.given_labels = task.given_labels;
  rows.upper = state.upper;
  rows.verdicts = &measures.verdicts;
  rows.selected = task.corruption.selected;
  rows.changed = task.corruption.changed;
  write_suspects(folder.file("suspects.csv"), rows);
  write_gallery(folder.file("gallery.json"), rows,
                {&task.data.shards, &task.data.scaling, task.data.image, task.data.feature_names});
  write_model(folder.file("model.npy"), measures.delivered_model, task.data.features);
  write_scaling(folder.file("scaling.csv"), task.data.scaling, task.data.feature_names);
}

std::string suspects_sentence(const CleaningMeasures& measures) {
  const std::vector<std::uint8_t>& marks = measures.verdicts.is_suspect;
  return fmt::format("{} of {} training rows are suspect (suspects.csv).", count_marks(marks), marks.size());
}

Findings conclude(CleaningTask& task, const State& state, const OutputFolder& folder,
                  const MeasureRequest& request) {
  const auto begin = std::chrono::steady_clock::now();
  const CleaningMeasures measures = measure(task, state, request);
  Findings findings;
  findings.measure_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  write_files(task, state, measures, folder);
  findings.metrics = metrics_of(measures);
  CleaningFacts facts = task.facts;
  facts.why_quick = request.why_quick;
  findings.words = cleaning_words(measures, facts);
  const std::string guess = guess_words(measures.test_accuracy_delivered, task.data.test.labels);
  if (!guess.empty()) findings.words.push_back(guess);
  findings.words.push_back(suspects_sentence(measures));
  return findings;
}

/// psi at its start, all [n] of it.
std::vector<double> full_start(const CleaningTask& task) {
  std::vector<double> upper = task.start.upper;
  upper.resize(task.rows.size());
  return upper;
}

double test_accuracy(const CleaningTask& task, std::span<const double> model) {
  if (task.data.test.size() == 0) return CleaningMeasures::kNotApplicable;
  return score_model(model, task.data.test, task.settings.classes, task.resolve.threads).accuracy;
}

std::vector<Baseline> make_baselines(CleaningTask& task) {
  const CleaningBaselines& fits = baselines_of(task, task.resolve);
  const double accuracy = test_accuracy(task, fits.validation_only);
  return {{.name = "plain",
           .seconds = fits.plain_seconds,
           .state = State{full_start(task), fits.plain},
           .metrics = {}},
          {.name = "validation-only",
           .seconds = fits.validation_only_seconds,
           .state = std::nullopt,
           .metrics = {{"test_accuracy_at_consensus", accuracy}, {"test_accuracy_delivered", accuracy}}}};
}

StartPoint start_of(const CleaningTask& task, std::size_t features, const Settings& settings) {
  if (settings.task().start == StartRule::kZero) return {};
  if (settings.task().start == StartRule::kCodeTune) {
    throw UsageError("start = \"code-tune\" is for tune: expected zero or code-clean");
  }
  return code_clean_start(features, task.settings.classes, static_cast<std::size_t>(settings.task().workers),
                          settings.options().seed);
}

Problem make_problem(const CleaningTask& task, const std::vector<CleaningShard>& shards) {
  Problem problem = make_hyper_cleaning(shards, task.settings);
  problem.set_start(task.start);
  return problem;
}

RunMeasures make_measures(const std::shared_ptr<const CleaningTask>& task, const Settings& settings) {
  RunMeasures measures;
  if (task->data.test.size() > 0) {
    measures.test = [task](std::span<const double> lower) {
      return score_model(lower, task->data.test, task->settings.classes, kObserverThreads);
    };
  }
  if (task->data.held_out.size() > 0) {
    measures.held_out = softmax_held_out_loss(task->data.held_out, task->settings.classes);
  }
  if (settings.task().resolve_every > 0) {
    measures.resolver = std::make_shared<PeriodicResolve>(
        make_hyper_cleaning(task->data.shards, task->settings), task->resolve, measures.test,
        settings.task().resolve_every, settings.options().iterations);
  }
  return measures;
}

void add_corruption(Json& json, const Corruption& corruption) {
  if (corruption.changed.empty()) return;
  json["corruption"] = {{"selected", count_marks(corruption.selected)},
                        {"changed", count_marks(corruption.changed)}};
}

}  // namespace

PreparedTask prepare_cleaning(Settings& settings, LoadedData data, const Console& console) {
  settle_workers(settings, data);
  const std::vector<ShardRows> rows = shard_rows(settings, data);
  const auto task = std::make_shared<CleaningTask>();
  task->settings = {data.classes(), settings.task().ridge, settings.task().shard_weights};
  task->resolve = resolve_options(settings, kAutomaticTolerance);
  task->deliver = settings.task().deliver;
  task->facts.validation_from_train = !data.validation.has_value();
  task->facts.tolerance = task->resolve.gradient_tolerance;
  task->start = start_of(*task, io::column_count(data.train), settings);
  list_training_rows(*task, rows, data.train);
  const std::vector<std::int32_t> labels = corrupted_labels(*task, rows, data.train, settings);

  PreparedTask prepared;
  prepared.data = files_json(data);
  prepared.read_seconds = data.read_seconds;
  io::Digest digest = split_digest(settings, data, rows, labels);
  prepared.digest = add_start(digest, task->start).text();
  task->data = make_task_data<CleaningShard>(settings, std::move(data), rows, labels, console);
  add_preparation(prepared.data, task->data);
  add_corruption(prepared.data, task->corruption);
  serve(prepared, task);
  return prepared;
}

}  // namespace adbo::app
