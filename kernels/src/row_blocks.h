#pragma once
// What both losses do with a block of rows besides the mathematics of their link.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "adbo/kernels/aligned.h"
#include "adbo/kernels/rows.h"
#include "block_kernels.h"

namespace adbo::kernels::detail {

/// Calls body(row, count) for consecutive blocks of at most kBlockRows of the rows, in order: sums over the
/// rows have one order and therefore the same bits in every call.
template <class Body>
void for_each_block(RowRange rows, const Body& body) {
  for (std::size_t row = rows.begin; row < rows.end; row += kBlockRows) {
    body(row, std::min(kBlockRows, rows.end - row));
  }
}

/// Labels as the links read them: doubles, with zeros behind them so that a block may begin at any row.
inline AlignedVector<double> padded_labels(std::span<const std::int32_t> labels) {
  AlignedVector<double> padded(labels.size() + kBlockRows, 0.0);
  std::copy(labels.begin(), labels.end(), padded.begin());
  return padded;
}

/// One number per row of a block.
struct alignas(kVectorAlignment) BlockColumn {
  double of[kBlockRows] = {};
};

/// scale * weight of the rows [row, row + count); zero beyond. Empty weights are ones.
inline void row_factors(std::span<const double> weights, double scale, std::size_t row, std::size_t count,
                        BlockColumn& factor) {
  for (std::size_t r = 0; r < count; ++r) factor.of[r] = weights.empty() ? scale : scale * weights[row + r];
  std::fill(factor.of + count, factor.of + kBlockRows, 0.0);
}

inline double weighted_sum(const BlockColumn& factor, const BlockColumn& loss, std::size_t count) {
  double sum = 0;
  for (std::size_t r = 0; r < count; ++r) sum += factor.of[r] * loss.of[r];
  return sum;
}

}  // namespace adbo::kernels::detail
