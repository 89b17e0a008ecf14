#include "tasks/holdout.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

using adbo::app::HeldOutSplit;
using adbo::app::hold_out;
using adbo::app::ShardRows;

namespace {

/// Three shards whose validation rows are rows of a table with labels row mod 4 and a rare label 9.
struct Fixture {
  std::vector<std::int32_t> labels;
  std::vector<ShardRows> shards;
  Fixture() {
    for (std::int32_t row = 0; row < 400; ++row) labels.push_back(row % 50 == 49 ? 9 : row % 4);
    std::size_t begin = 0;
    for (const std::size_t size : {100UL, 37UL, 200UL}) {
      ShardRows shard;
      shard.train = {begin};
      for (std::size_t row = begin + 1; row < begin + size; ++row) shard.validation.push_back(row);
      shards.push_back(std::move(shard));
      begin += size;
    }
  }
};

}  // namespace

TEST_CASE("holdout: the validation rows fall into two parts, nothing lost, training rows untouched") {
  const Fixture fixture;
  for (const double fraction : {0.1, 0.3, 0.5, 0.9}) {
    const HeldOutSplit split = hold_out(fixture.shards, fixture.labels, fraction, 5);
    std::multiset<std::size_t> before, after(split.held_out.begin(), split.held_out.end());
    for (std::size_t i = 0; i < 3; ++i) {
      const ShardRows& shard = split.shards[i];
      const std::vector<std::size_t>& all = fixture.shards[i].validation;
      CHECK(shard.train == fixture.shards[i].train);
      CHECK(std::is_sorted(shard.validation.begin(), shard.validation.end()));
      const double held = static_cast<double>(all.size() - shard.validation.size());
      CHECK(std::abs(held - fraction * static_cast<double>(all.size())) < 1);
      before.insert(all.begin(), all.end());
      after.insert(shard.validation.begin(), shard.validation.end());
    }
    CHECK(before == after);
  }
}

TEST_CASE("holdout: every class of a shard gives its share to within one row") {
  const Fixture fixture;
  const HeldOutSplit split = hold_out(fixture.shards, fixture.labels, 0.3, 11);
  const std::set<std::size_t> held(split.held_out.begin(), split.held_out.end());
  for (const ShardRows& shard : fixture.shards) {
    for (const std::int32_t label : {0, 1, 2, 3, 9}) {
      double rows = 0, held_rows = 0;
      for (const std::size_t row : shard.validation) {
        if (fixture.labels[row] != label) continue;
        ++rows;
        held_rows += static_cast<double>(held.count(row));
      }
      CHECK(std::abs(held_rows - 0.3 * rows) < 1);
    }
  }
}

TEST_CASE("holdout: the seed decides, and a shard keeps a row") {
  const Fixture fixture;
  const auto held = [&](double fraction, std::uint64_t seed) {
    return hold_out(fixture.shards, fixture.labels, fraction, seed).held_out;
  };
  CHECK(held(0.3, 1) == held(0.3, 1));
  CHECK(held(0.3, 1) != held(0.3, 2));
  CHECK(held(0, 1).empty());
  const std::vector<ShardRows> tiny{{{0}, {1}}, {{2}, {3, 4}}};
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    const HeldOutSplit split = hold_out(tiny, fixture.labels, 0.99, seed);
    CHECK(split.shards[0].validation == std::vector<std::size_t>{1});
    CHECK(split.shards[1].validation.size() == 1);
  }
}
