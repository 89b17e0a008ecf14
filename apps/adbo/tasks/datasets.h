#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "adbo/problems/hyper_cleaning.h"
#include "io/table.h"
#include "output/summary_json.h"
#include "settings/settings.h"
#include "support/console.h"
#include "tasks/scaling.h"
#include "tasks/shards.h"

namespace adbo::app {

/// The files of a run: same classes, same columns, labels everywhere.
struct LoadedData {
  io::Table train;
  std::optional<io::Table> validation, test;
  std::size_t test_columns_cut = 0;  ///< columns of the test file that no file learned from has
  double read_seconds = 0;           ///< what reading and checking the files took

  [[nodiscard]] int classes() const { return static_cast<int>(train.label_names.size()); }
};

/// Reads the files that the settings name. io::InputError for what the readers refuse; DataError for missing
/// labels, a single class, column counts that differ (both numbers and both files), a test label that no row
/// learned from has, and models that this machine's memory does not hold.
[[nodiscard]] LoadedData load_data(const TaskSettings& task, const Console& console);

/// The rows of --train and --test as one table of rows in random order: the first `rows` of it train and
/// validate, the others test. UsageError naming both numbers when there are not more rows than that.
void pool_rows(LoadedData& data, std::size_t rows, std::uint64_t seed);

/// Learns the scaling of the training file's rows and applies it to all files.
[[nodiscard]] Scaling scale_data(LoadedData& data, ScaleRule rule);

/// These rows, in this order; labels [rows of the file].
[[nodiscard]] LabelledRows select_labelled(const kernels::Rows& features,
                                           const std::vector<std::int32_t>& labels,
                                           const std::vector<std::size_t>& rows);
/// The whole table; its features move away.
[[nodiscard]] LabelledRows take_labelled(io::Table& table);

/// Every worker's rows of --train, and of --validation or, without it, of the split of --train.
[[nodiscard]] std::vector<ShardRows> shard_rows(const Settings& settings, const LoadedData& data);

/// What summary.json says of the files.
[[nodiscard]] Json files_json(const LoadedData& data);

/// N: what was asked for, or the default but never more than half of the rows.
void settle_workers(Settings& settings, const LoadedData& data);

}  // namespace adbo::app
