#pragma once
// What the problems on labelled rows share: checks of what they are given, and how the workers' means are
// summed.

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>

#include "adbo/batch.h"
#include "adbo/kernels/rows.h"
#include "adbo/problems/hyper_cleaning.h"

namespace adbo::detail {

/// Throws std::invalid_argument unless there are `columns` features (0: any number), as many labels as rows,
/// and every label lies in [0, classes). `name` begins the message. Returns the number of features.
inline std::size_t check_labelled_rows(const LabelledRows& rows, int classes, std::size_t columns,
                                       const std::string& name) {
  if (rows.features == nullptr) throw std::invalid_argument(name + ": no features");
  const std::size_t features = kernels::column_count(*rows.features);
  if (features == 0) throw std::invalid_argument(name + ": no columns");
  if (columns != 0 && features != columns) {
    throw std::invalid_argument(name + ": " + std::to_string(features) + " features, elsewhere " +
                                std::to_string(columns));
  }
  if (kernels::row_count(*rows.features) != rows.labels.size()) {
    throw std::invalid_argument(name + ": " + std::to_string(kernels::row_count(*rows.features)) +
                                " rows and " + std::to_string(rows.labels.size()) + " labels");
  }
  for (std::size_t j = 0; j < rows.labels.size(); ++j) {
    if (rows.labels[j] < 0 || rows.labels[j] >= classes) {
      throw std::invalid_argument(name + ": row " + std::to_string(j) + " has label " +
                                  std::to_string(rows.labels[j]) + ", expected 0 to " +
                                  std::to_string(classes - 1));
    }
  }
  return features;
}

struct RowTotals {
  std::size_t train = 0, validation = 0;
  std::size_t features = 0;
};

/// Checks all shards (CleaningShard or TuningShard) and counts their rows. Throws std::invalid_argument; a
/// worker without training or without validation rows has no mean and is refused.
template <class Shard>
RowTotals check_shards(std::span<const Shard> shards, int classes) {
  if (classes < 2)
    throw std::invalid_argument("classes: " + std::to_string(classes) + ", expected at least 2");
  if (shards.empty()) throw std::invalid_argument("no shards");
  RowTotals totals;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const std::string name = "shard " + std::to_string(i);
    totals.features = check_labelled_rows(shards[i].train, classes, totals.features, name + ", training");
    check_labelled_rows(shards[i].validation, classes, totals.features, name + ", validation");
    if (shards[i].train.size() == 0) throw std::invalid_argument(name + ": no training rows");
    if (shards[i].validation.size() == 0) throw std::invalid_argument(name + ": no validation rows");
    totals.train += shards[i].train.size();
    totals.validation += shards[i].validation.size();
  }
  return totals;
}

/// The rows of a mini-batch of `rows` rows.
inline kernels::RowRange rows_of(const Batch& batch, std::size_t rows) {
  const SampleRange range = batch.range(rows);
  return {range.begin, range.end};
}

/// The factor of one row's loss in a worker's objective: s_i / n_i with s_i = 1 (kEqual) or N n_i / sum n
/// (kRows).
inline double row_scale(ShardWeights weights, std::size_t shard_rows, std::size_t total_rows,
                        std::size_t num_shards) {
  return weights == ShardWeights::kEqual ? 1.0 / static_cast<double>(shard_rows)
                                         : static_cast<double>(num_shards) / static_cast<double>(total_rows);
}

}  // namespace adbo::detail
