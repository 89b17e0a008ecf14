#include "tasks/shards.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "support/exit_code.h"
#include "tasks/starts.h"

using adbo::app::contiguous_shards;
using adbo::app::RowRange;
using adbo::app::ShardRows;
using adbo::app::Split;
using adbo::app::split_shards;

namespace {

std::string message_of(const auto& call) {
  try {
    call();
  } catch (const adbo::app::UsageError& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, std::string_view piece) {
  return text.find(piece) != std::string::npos;
}

}  // namespace

TEST_CASE("shards: contiguous, in order, sizes that differ by one at most") {
  for (const std::size_t rows : {18UL, 19UL, 35UL, 60000UL}) {
    const std::vector<RowRange> shards = contiguous_shards(rows, 18, "rows");
    REQUIRE(shards.size() == 18);
    CHECK(shards.front().begin == 0);
    CHECK(shards.back().end == rows);
    for (std::size_t i = 0; i < 18; ++i) {
      if (i > 0) CHECK(shards[i].begin == shards[i - 1].end);
      CHECK(shards[i].size() >= rows / 18);
      CHECK(shards[i].size() <= rows / 18 + 1);
    }
  }
  // The published split: 60,000 rows over 18 workers, 3,333 or 3,334 each.
  const std::vector<RowRange> shards = contiguous_shards(60000, 18, "rows");
  CHECK(shards[0].size() == 3333);
  CHECK(shards[1].size() == 3333);
  CHECK(shards[2].size() == 3334);
}

TEST_CASE("shards: more workers than rows are refused with both numbers") {
  const std::string message = message_of([] { (void)contiguous_shards(7, 8, "training rows"); });
  CHECK(contains(message, "workers = 8"));
  CHECK(contains(message, "7 training rows"));
  CHECK(contiguous_shards(8, 8, "training rows").back().size() == 1);
}

TEST_CASE("split: the tail of every shard validates, halves rounded towards validation") {
  const std::vector<ShardRows> split = split_shards({{0, 5}, {5, 11}}, 0.5, Split::kShardTail, 1);
  CHECK(split[0].train == std::vector<std::size_t>{0, 1});
  CHECK(split[0].validation == std::vector<std::size_t>{2, 3, 4});
  CHECK(split[1].train == std::vector<std::size_t>{5, 6, 7});
  CHECK(split[1].validation == std::vector<std::size_t>{8, 9, 10});
}

TEST_CASE("split: random rows of the shard, ascending, each once, the same for the same seed") {
  const std::vector<RowRange> shards{{0, 100}, {100, 250}};
  const std::vector<ShardRows> split = split_shards(shards, 0.2, Split::kRandom, 3);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(split[i].validation.size() == shards[i].size() / 5);
    CHECK(std::is_sorted(split[i].train.begin(), split[i].train.end()));
    CHECK(std::is_sorted(split[i].validation.begin(), split[i].validation.end()));
    std::vector<std::size_t> all = split[i].train;
    all.insert(all.end(), split[i].validation.begin(), split[i].validation.end());
    std::sort(all.begin(), all.end());
    std::vector<std::size_t> expected(shards[i].size());
    std::iota(expected.begin(), expected.end(), shards[i].begin);
    CHECK(all == expected);
  }
  CHECK(split_shards(shards, 0.2, Split::kRandom, 3)[1].validation == split[1].validation);
  CHECK(split_shards(shards, 0.2, Split::kRandom, 4)[1].validation != split[1].validation);
  // A shard's draw is its own: another first shard leaves the second one's alone.
  CHECK(split_shards({{0, 90}, {100, 250}}, 0.2, Split::kRandom, 3)[1].validation == split[1].validation);
}

TEST_CASE("split: a worker without a row to train or to validate is refused") {
  const std::string none = message_of([] { (void)split_shards({{0, 4}}, 0.1, Split::kShardTail, 1); });
  CHECK(contains(none, "validation_fraction = 0.1"));
  CHECK(contains(none, "4 rows of worker 0"));
  CHECK(contains(none, "0 to validate"));
  const std::string all = message_of([] { (void)split_shards({{0, 4}, {4, 5}}, 0.5, Split::kShardTail, 1); });
  CHECK(contains(all, "1 rows of worker 1"));
  CHECK(contains(all, "0 rows to train"));
}

TEST_CASE("starts: shapes, draws and spread of the published programs") {
  const adbo::StartPoint clean = adbo::app::code_clean_start(784, 10, 3, 34);
  CHECK(clean.upper.empty());
  CHECK(clean.lower.size() == 7840);
  REQUIRE(clean.lower_local.size() == 3);
  CHECK(clean.lower_local[0] != clean.lower_local[1]);
  CHECK(clean.lower_local[0] != clean.lower);
  double square = 0;
  for (const double value : clean.lower) square += value * value;
  // Variance 2 / 784; the relative deviation of an estimate from 7,840 draws is sqrt(2 / 7840) = 0.016: 5 of
  // them.
  CHECK(square / 7840 == doctest::Approx(2.0 / 784).epsilon(0.08));

  const adbo::StartPoint tune = adbo::app::code_tune_start(22, 44, 2, 77);
  CHECK(tune.upper.size() == 22);
  CHECK(tune.consensus_dual == tune.upper);
  CHECK(tune.lower.size() == 44);
  CHECK(tune.lower_local.empty());  // every worker starts from z
}
