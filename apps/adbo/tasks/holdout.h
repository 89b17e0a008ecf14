#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "adbo/problems/hyper_cleaning.h"
#include "settings/settings.h"
#include "tasks/datasets.h"
#include "tasks/shards.h"

namespace adbo::app {

/// What of the validation rows the upper objective sees, and what it does not. Rows ascending.
struct HeldOutSplit {
  std::vector<ShardRows> shards;      ///< without the held-out rows
  std::vector<std::size_t> held_out;  ///< shard after shard
};

/// Holds `fraction` of every shard's validation rows out: every (1 / fraction)-th of them in the order of
/// their classes, from a start that is drawn from a stream of the shard's own. So every class gives its share
/// to within one row, and every shard to within one. A shard keeps one validation row at least. `labels` are
/// those of the file that the validation rows are of; fraction in [0, 1).
[[nodiscard]] HeldOutSplit hold_out(const std::vector<ShardRows>& shards,
                                    const std::vector<std::int32_t>& labels, double fraction,
                                    std::uint64_t seed);

/// What a run learns from, and the rows that judge it meanwhile (empty: none).
template <class Shard>
struct LearningData {
  std::vector<Shard> shards;
  LabelledRows held_out;
};

/// `shards` (of all rows, with the training labels in use) without the held-out ones of their validation
/// rows; `rows` says which rows of the files they hold.
template <class Shard>
[[nodiscard]] LearningData<Shard> learning_data(const std::vector<Shard>& shards,
                                                const std::vector<ShardRows>& rows, const LoadedData& data,
                                                const Settings& settings) {
  const io::Table& validation = data.validation ? *data.validation : data.train;
  const HeldOutSplit split =
      hold_out(rows, validation.labels, settings.task().holdout, settings.options().seed);
  if (split.held_out.empty()) return {shards, {}};
  LearningData<Shard> result;
  result.held_out = select_labelled(validation.features, validation.labels, split.held_out);
  for (std::size_t i = 0; i < shards.size(); ++i) {
    result.shards.push_back({shards[i].train, select_labelled(validation.features, validation.labels,
                                                              split.shards[i].validation)});
  }
  return result;
}

}  // namespace adbo::app
