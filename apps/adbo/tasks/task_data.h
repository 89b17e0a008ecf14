#pragma once
// What clean and tune share: the rows of the workers, scaled, split and named.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "adbo/problem.h"
#include "io/digest.h"
#include "io/table.h"
#include "settings/settings.h"
#include "support/console.h"
#include "tasks/datasets.h"
#include "tasks/holdout.h"
#include "tasks/scaling.h"
#include "tasks/shards.h"

namespace adbo::app {

/// One split of the data. Shards hold training and validation rows, in the order of the file.
template <class Shard>
struct TaskData {
  std::vector<Shard> shards;    ///< with all validation rows
  std::vector<Shard> learning;  ///< what a run learns from: without the held-out ones
  LabelledRows held_out;        ///< empty: none
  LabelledRows test;            ///< empty: none
  std::vector<std::string> label_names, ids, feature_names;
  Scaling scaling;
  std::size_t features = 0;
  std::optional<io::ImageShape> image;  ///< present when a row is a picture
};

/// Scales the data and deals it out: worker i gets `rows[i]`, its training rows with the labels that training
/// uses, [rows of the file].
template <class Shard>
[[nodiscard]] TaskData<Shard> make_task_data(const Settings& settings, LoadedData data,
                                             const std::vector<ShardRows>& rows,
                                             const std::vector<std::int32_t>& training_labels,
                                             const Console& console) {
  TaskData<Shard> task;
  task.scaling = scale_data(data, settings.task().scale);
  console.detail(task.scaling.sentence);
  task.features = io::column_count(data.train);
  task.image = data.train.image;
  const io::Table& validation = data.validation ? *data.validation : data.train;
  for (const ShardRows& shard : rows) {
    task.shards.push_back({select_labelled(data.train.features, training_labels, shard.train),
                           select_labelled(validation.features, validation.labels, shard.validation)});
  }
  LearningData<Shard> learning = learning_data(task.shards, rows, data, settings);
  task.learning = std::move(learning.shards);
  task.held_out = std::move(learning.held_out);
  if (data.test) task.test = take_labelled(*data.test);
  task.label_names = std::move(data.train.label_names);
  task.ids = std::move(data.train.ids);
  task.feature_names = std::move(data.train.feature_names);
  return task;
}

/// Adds to the `data` part of summary.json how the rows were prepared.
template <class Shard>
void add_preparation(Json& json, const TaskData<Shard>& task) {
  std::size_t training_rows = 0, validation_rows = 0;
  for (const Shard& shard : task.shards) {
    training_rows += shard.train.size();
    validation_rows += shard.validation.size();
  }
  json["training_rows"] = training_rows;
  json["validation_rows"] = validation_rows;
  json["held_out_rows"] = task.held_out.size();
  json["scaling"] = task.scaling.sentence;
}

/// Of the files, the workers' rows, the held-out rows and the labels that training uses; with the start it
/// tells whether runs may be compared.
[[nodiscard]] io::Digest split_digest(const Settings& settings, const LoadedData& data,
                                      const std::vector<ShardRows>& rows,
                                      const std::vector<std::int32_t>& training_labels);
io::Digest& add_start(io::Digest& digest, const StartPoint& start);

}  // namespace adbo::app
