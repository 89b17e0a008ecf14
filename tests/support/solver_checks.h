#pragma once
// What tests of several methods ask of a solve.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "adbo/adbo.h"

namespace adbo::test {

[[nodiscard]] inline double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t k = 0; k < a.size(); ++k) largest = std::max(largest, std::abs(a[k] - b[k]));
  return largest;
}

/// Under the virtual clock neither the executor nor the number of threads may change a bit.
inline void check_same_bits_everywhere(Problem& problem, Options options, const Result& reference) {
  for (const ExecutorKind kind : {ExecutorKind::kInline, ExecutorKind::kThreads, ExecutorKind::kTbb}) {
    for (const std::int64_t threads : {1, 2, 7}) {
      options.executor = kind;
      options.threads = threads;
      const Result result = Solver(options).solve(problem);
      CHECK(result.upper == reference.upper);
      CHECK(result.lower == reference.lower);
      CHECK(result.summary.iterations == reference.summary.iterations);
      CHECK(result.summary.virtual_seconds == reference.summary.virtual_seconds);
    }
  }
}

}  // namespace adbo::test
