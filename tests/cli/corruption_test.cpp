#include "tasks/corruption.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

using adbo::app::corrupt_labels;
using adbo::app::Corruption;
using adbo::app::CorruptRule;

namespace {

std::vector<std::int32_t> cyclic_labels(std::size_t rows, int classes) {
  std::vector<std::int32_t> labels(rows);
  for (std::size_t row = 0; row < rows; ++row) labels[row] = static_cast<std::int32_t>(row) % classes;
  return labels;
}

std::size_t count(const std::vector<std::uint8_t>& marks) {
  return static_cast<std::size_t>(std::count(marks.begin(), marks.end(), std::uint8_t{1}));
}

}  // namespace

TEST_CASE("corruption: rate 0 changes nothing") {
  const std::vector<std::int32_t> labels = cyclic_labels(50, 3);
  const std::array<std::size_t, 1> sizes{50};
  const Corruption result = corrupt_labels(labels, sizes, 3, 0, CorruptRule::kOtherClass, 1);
  CHECK(result.labels == labels);
  CHECK(count(result.selected) == 0);
  CHECK(count(result.changed) == 0);
}

TEST_CASE("corruption: selected rows, and only they, get another class") {
  const std::vector<std::int32_t> labels = cyclic_labels(2000, 4);
  const std::array<std::size_t, 2> sizes{900, 1100};
  for (const CorruptRule rule : {CorruptRule::kOtherClass, CorruptRule::kCountShift}) {
    const Corruption result = corrupt_labels(labels, sizes, 4, 0.3, rule, 5);
    for (std::size_t row = 0; row < labels.size(); ++row) {
      CHECK((result.labels[row] != labels[row]) == (result.selected[row] == 1));
      CHECK(result.changed[row] == result.selected[row]);
      CHECK(result.labels[row] >= 0);
      CHECK(result.labels[row] < 4);
    }
  }
}

TEST_CASE("corruption: every row of rate 1, both rules, two classes swap") {
  const std::vector<std::int32_t> labels = cyclic_labels(100, 2);
  const std::array<std::size_t, 1> sizes{100};
  for (const CorruptRule rule : {CorruptRule::kOtherClass, CorruptRule::kCountShift}) {
    const Corruption result = corrupt_labels(labels, sizes, 2, 1, rule, 5);
    for (std::size_t row = 0; row < 100; ++row) CHECK(result.labels[row] == 1 - labels[row]);
  }
}

TEST_CASE("corruption: other-class draws every other class alike") {
  const std::size_t rows = 40000;
  const std::vector<std::int32_t> labels(rows, 2);
  const std::array<std::size_t, 1> sizes{rows};
  const Corruption result = corrupt_labels(labels, sizes, 5, 0.4, CorruptRule::kOtherClass, 11);
  // Binomial deviation of the share 0.4: 0.0025; four of them.
  CHECK(static_cast<double>(count(result.changed)) / rows == doctest::Approx(0.4).epsilon(0.025));
  for (const std::int32_t other : {0, 1, 3, 4}) {
    const auto drawn = std::count(result.labels.begin(), result.labels.end(), other);
    // 4,000 expected, deviation 60; four of them.
    CHECK(std::abs(static_cast<double>(drawn) - 4000) < 240);
  }
}

TEST_CASE("corruption: count-shift takes exactly floor(rate rows) of every shard") {
  const std::vector<std::int32_t> labels = cyclic_labels(103, 10);
  const std::array<std::size_t, 3> sizes{33, 33, 37};
  const Corruption result = corrupt_labels(labels, sizes, 10, 0.4, CorruptRule::kCountShift, 34);
  std::size_t begin = 0;
  for (const std::size_t size : sizes) {
    const auto first = result.selected.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto selected = std::count(first, first + static_cast<std::ptrdiff_t>(size), std::uint8_t{1});
    CHECK(selected == static_cast<std::ptrdiff_t>(std::floor(0.4 * static_cast<double>(size))));
    begin += size;
  }
}

TEST_CASE("corruption: the seed decides") {
  const std::vector<std::int32_t> labels = cyclic_labels(200, 3);
  const std::array<std::size_t, 1> sizes{200};
  const auto draw = [&](std::uint64_t seed) {
    return corrupt_labels(labels, sizes, 3, 0.5, CorruptRule::kOtherClass, seed).labels;
  };
  CHECK(draw(1) == draw(1));
  CHECK(draw(1) != draw(2));
}
