#include "adbo/kernels/gram.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "adbo/kernels/aligned.h"
#include "block_kernels.h"

namespace adbo::kernels {
namespace {

using Matrix = Eigen::MatrixXd;

/// Rows are gathered, scaled by the root of their weight, into blocks for one symmetric update each.
void dense_gram(const DenseRows& rows, std::span<const double> weights, Eigen::Map<Matrix> out) {
  using detail::kGramRows;
  const detail::BlockKernels& kernels = detail::block_kernels();
  const detail::GramShape shape = kernels.gram_shape(rows.cols());
  AlignedVector<double> block(shape.width() * kGramRows), sums(shape.width() * shape.width());
  std::size_t filled = 0;
  const auto flush = [&] {
    kernels.gram_update(block.data(), filled, shape, sums.data());
    filled = 0;
  };
  for (std::size_t r = 0; r < rows.rows(); ++r) {
    if (weights[r] == 0) continue;
    kernels.gram_pack(rows.row(r), std::sqrt(weights[r]), shape, filled++, block.data());
    if (filled == kGramRows) flush();
  }
  flush();
  // Row by row with the diagonal and what is right of it: column by column the lower triangle.
  const auto width = static_cast<Eigen::Index>(shape.width());
  out.triangularView<Eigen::Lower>() =
      Eigen::Map<const Matrix>(sums.data(), width, width).topLeftCorner(out.rows(), out.cols());
}

void sparse_gram(const SparseRows& rows, std::span<const double> weights, Eigen::Map<Matrix> out) {
  for (std::size_t r = 0; r < rows.rows(); ++r) {
    if (weights[r] == 0) continue;
    const auto begin = static_cast<std::size_t>(rows.row_begin[r]),
               end = static_cast<std::size_t>(rows.row_begin[r + 1]);
    for (std::size_t a = begin; a < end; ++a) {
      const double scaled = weights[r] * static_cast<double>(rows.value[a]);
      for (std::size_t b = begin; b <= a; ++b) {  // columns ascend: the lower triangle
        out(rows.column[a], rows.column[b]) += scaled * static_cast<double>(rows.value[b]);
      }
    }
  }
}

}  // namespace

void weighted_gram(const Rows& rows, std::span<const double> weights, std::span<double> out) {
  const auto cols = static_cast<Eigen::Index>(column_count(rows));
  Eigen::Map<Matrix> gram(out.data(), cols, cols);
  gram.setZero();
  if (const auto* dense = std::get_if<DenseRows>(&rows)) {
    dense_gram(*dense, weights, gram);
  } else {
    sparse_gram(std::get<SparseRows>(rows), weights, gram);
  }
  gram.triangularView<Eigen::StrictlyUpper>() = gram.transpose();
}

void weighted_squares(const Rows& rows, std::span<const double> weights, std::span<double> out) {
  std::fill(out.begin(), out.end(), 0.0);
  if (const auto* dense = std::get_if<DenseRows>(&rows)) {
    for (std::size_t r = 0; r < dense->rows(); ++r) {
      const float* const row = dense->row(r);
      for (std::size_t k = 0; k < out.size(); ++k) {
        out[k] += weights[r] * static_cast<double>(row[k]) * static_cast<double>(row[k]);
      }
    }
    return;
  }
  const SparseRows& sparse = std::get<SparseRows>(rows);
  for (std::size_t r = 0; r < sparse.rows(); ++r) {
    const auto begin = static_cast<std::size_t>(sparse.row_begin[r]),
               end = static_cast<std::size_t>(sparse.row_begin[r + 1]);
    for (std::size_t a = begin; a < end; ++a) {
      const auto value = static_cast<double>(sparse.value[a]);
      out[static_cast<std::size_t>(sparse.column[a])] += weights[r] * value * value;
    }
  }
}

}  // namespace adbo::kernels
