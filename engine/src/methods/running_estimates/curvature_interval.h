#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace adbo::detail {

/// Answers between two evaluations of a worker's curvature block: as many as keep its cost, rows b^2, within
/// that of the gradients, rows b per answer.
[[nodiscard]] inline std::int64_t curvature_interval(std::size_t block_size) {
  constexpr std::size_t kBlockPerAnswer = 8;
  return static_cast<std::int64_t>(std::max<std::size_t>(1, block_size / kBlockPerAnswer));
}

}  // namespace adbo::detail
