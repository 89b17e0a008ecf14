#pragma once
// Which rows belong to which worker, and which of them train and validate. Pure functions of numbers.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "settings/task_settings.h"

namespace adbo::app {

/// Rows [begin, end).
struct RowRange {
  std::size_t begin = 0, end = 0;
  [[nodiscard]] std::size_t size() const { return end - begin; }
};

/// Worker i holds rows floor(rows i / N) up to floor(rows (i + 1) / N): sizes differ by one at most.
/// UsageError naming both numbers when there are fewer rows than workers; `what` says which rows ("training
/// rows").
[[nodiscard]] std::vector<RowRange> contiguous_shards(std::size_t rows, std::size_t workers,
                                                      std::string_view what);

/// A worker's rows, ascending.
struct ShardRows {
  std::vector<std::size_t> train, validation;
};

/// round(fraction size) rows of every shard validate (halves up): its last ones, or random ones drawn from a
/// stream of the shard's own. UsageError when a shard would train or validate on no row.
[[nodiscard]] std::vector<ShardRows> split_shards(const std::vector<RowRange>& shards, double fraction,
                                                  Split split, std::uint64_t seed);
/// Training shards of one file beside validation shards of another.
[[nodiscard]] std::vector<ShardRows> pair_shards(const std::vector<RowRange>& train,
                                                 const std::vector<RowRange>& validation);

}  // namespace adbo::app
