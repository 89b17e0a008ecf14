#include "tasks/shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "support/exit_code.h"
#include "tasks/random_streams.h"

namespace adbo::app {
namespace {

std::vector<std::size_t> rows_of(std::size_t begin, std::size_t end) {
  std::vector<std::size_t> rows(end - begin);
  std::iota(rows.begin(), rows.end(), begin);
  return rows;
}

std::size_t validation_count(const RowRange& shard, std::size_t worker, double fraction) {
  const auto count = static_cast<std::size_t>(std::floor(fraction * static_cast<double>(shard.size()) + 0.5));
  if (count == 0 || count >= shard.size()) {
    throw UsageError(fmt::format(
        "validation_fraction = {} of the {} rows of worker {} leaves {} rows to train and {} to validate: "
        "every worker needs one of each; use fewer workers or another fraction",
        fraction, shard.size(), worker, shard.size() - count, count));
  }
  return count;
}

ShardRows split_tail(const RowRange& shard, std::size_t validation) {
  const std::size_t middle = shard.end - validation;
  return {rows_of(shard.begin, middle), rows_of(middle, shard.end)};
}

ShardRows split_randomly(const RowRange& shard, std::size_t validation, RandomStream stream) {
  std::vector<std::size_t> order = stream.permutation(shard.size());
  for (std::size_t& row : order) row += shard.begin;
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(validation);
  std::sort(order.begin(), middle);
  std::sort(middle, order.end());
  return {{middle, order.end()}, {order.begin(), middle}};
}

}  // namespace

std::vector<RowRange> contiguous_shards(std::size_t rows, std::size_t workers, std::string_view what) {
  if (rows < workers) {
    throw UsageError(fmt::format("workers = {} exceeds the {} {}: a worker would hold none; expected 1 to {}",
                                 workers, rows, what, rows));
  }
  std::vector<RowRange> shards(workers);
  for (std::size_t i = 0; i < workers; ++i) shards[i] = {rows * i / workers, rows * (i + 1) / workers};
  return shards;
}

std::vector<ShardRows> split_shards(const std::vector<RowRange>& shards, double fraction, Split split,
                                    std::uint64_t seed) {
  std::vector<ShardRows> result;
  result.reserve(shards.size());
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const std::size_t validation = validation_count(shards[i], i, fraction);
    result.push_back(
        split == Split::kShardTail
            ? split_tail(shards[i], validation)
            : split_randomly(shards[i], validation, random_stream(seed, DrawPurpose::kSplit, i)));
  }
  return result;
}

std::vector<ShardRows> pair_shards(const std::vector<RowRange>& train,
                                   const std::vector<RowRange>& validation) {
  std::vector<ShardRows> result(train.size());
  for (std::size_t i = 0; i < train.size(); ++i) {
    result[i] = {rows_of(train[i].begin, train[i].end), rows_of(validation[i].begin, validation[i].end)};
  }
  return result;
}

}  // namespace adbo::app
