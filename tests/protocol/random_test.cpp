#include "adbo/random.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

using adbo::RandomStream;

TEST_CASE("random: a seed and a stream mean the same numbers everywhere, others mean others") {
  RandomStream a(1, 0), b(1, 0), c(1, 1), d(2, 0);
  std::set<std::uint64_t> seen;
  for (int k = 0; k < 100; ++k) {
    const std::uint64_t value = a.next();
    CHECK(value == b.next());
    seen.insert({value, c.next(), d.next()});
  }
  CHECK(seen.size() == 300);
}

TEST_CASE("random: uniform, bounded and normal draws have the right moments") {
  RandomStream random(3, 0);
  constexpr int kDraws = 100000;
  double uniform_sum = 0, normal_sum = 0, normal_squares = 0;
  std::vector<int> counts(7);
  for (int k = 0; k < kDraws; ++k) {
    const double u = random.uniform();
    CHECK_UNARY(u >= 0 && u < 1);
    uniform_sum += u;
    const double n = random.normal();
    normal_sum += n;
    normal_squares += n * n;
    ++counts[random.below(7)];
  }
  // Five standard deviations of each estimate.
  CHECK(std::abs(uniform_sum / kDraws - 0.5) < 5 * std::sqrt(1.0 / 12 / kDraws));
  CHECK(std::abs(normal_sum / kDraws) < 5 / std::sqrt(kDraws));
  CHECK(std::abs(normal_squares / kDraws - 1) < 5 * std::sqrt(2.0 / kDraws));
  for (const int count : counts) CHECK(std::abs(count - kDraws / 7.0) < 5 * std::sqrt(kDraws / 7.0));
}

TEST_CASE("random: a permutation has every index once") {
  RandomStream random(5, 0);
  for (const std::size_t size : {0, 1, 2, 50}) {
    auto order = random.permutation(size);
    std::sort(order.begin(), order.end());
    for (std::size_t k = 0; k < size; ++k) CHECK(order[k] == k);
  }
}
