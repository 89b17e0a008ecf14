#pragma once

#include <cstddef>

namespace adbo {

/// Consecutive samples begin, ..., end - 1.
struct SampleRange {
  std::size_t begin = 0, end = 0;
  [[nodiscard]] constexpr std::size_t size() const { return end - begin; }
};

/// A mini-batch: the index-th of `count` nearly equal runs of consecutive samples; count = 1: all of them.
struct Batch {
  std::size_t index = 0, count = 1;

  [[nodiscard]] constexpr bool is_everything() const { return count == 1; }
  /// Which of `samples` samples; count <= samples.
  [[nodiscard]] constexpr SampleRange range(std::size_t samples) const {
    return {index * samples / count, (index + 1) * samples / count};
  }
};

/// Samples of an upper and of a lower objective.
struct SampleCounts {
  std::size_t upper = 0, lower = 0;
};

}  // namespace adbo
