#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "adbo/problem.h"

namespace adbo::detail {

/// When a worker sends its curvature block again. The worker's.
class CurvatureSchedule {
 public:
  CurvatureSchedule(const Problem& problem, std::size_t worker);

  /// Called once per answer with the x of its request, [n_i]: whether the answer is to carry a block. A block
  /// that is said to be due counts as sent.
  [[nodiscard]] bool is_due(std::span<const double> x);
  /// b; 0: the objective has no blocks.
  [[nodiscard]] std::size_t block_size() const { return block_size_; }

 private:
  [[nodiscard]] bool is_near(std::span<const double> x) const;

  std::size_t block_size_;
  std::int64_t answers_since_ = -1;  ///< -1: none was sent yet
  std::vector<double> sent_at_;      ///< x of the block last sent; empty where x does not matter
};

}  // namespace adbo::detail
