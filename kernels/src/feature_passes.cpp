#include "feature_passes.h"

#include <algorithm>
#include <cassert>
#include <stdexcept>
#include <utility>

namespace adbo::kernels::detail {
namespace {

/// Doubles between packed vectors of a dense pass: whole SIMD vectors, and an odd number of cache lines, so
/// that the vectors of a tile do not fall into the same sets of the cache when the row length is a power of
/// two.
std::size_t dense_vector_stride(std::size_t row_stride) {
  constexpr std::size_t kLine = kVectorAlignment / sizeof(double);
  static_assert(DenseRows::kRowPadding % kLine == 0);
  return row_stride + kLine;
}

void check_sparse(const SparseRows& matrix) {
  const auto fail = [](const char* what) { throw std::invalid_argument(what); };
  const auto nonzeros = static_cast<std::int64_t>(matrix.nonzeros());
  if (matrix.column.size() != matrix.value.size()) fail("SparseRows: column and value differ in length");
  if (matrix.row_begin.empty() || matrix.row_begin.front() != 0 || matrix.row_begin.back() != nonzeros) {
    fail("SparseRows: row_begin must lead from 0 to the number of non-zeros");
  }
  if (!std::is_sorted(matrix.row_begin.begin(), matrix.row_begin.end()))
    fail("SparseRows: row_begin must ascend");
  for (const std::int32_t column : matrix.column) {
    if (column < 0 || static_cast<std::size_t>(column) >= matrix.cols) fail("SparseRows: no such column");
  }
}

}  // namespace

FeaturePasses::FeaturePasses(std::shared_ptr<const Rows> rows, std::size_t most_vectors)
    : matrix_(std::move(rows)), kernels_(&block_kernels()) {
  if (matrix_ == nullptr) throw std::invalid_argument("a loss needs a feature matrix");
  dense_ = std::get_if<DenseRows>(matrix_.get());
  sparse_ = std::get_if<SparseRows>(matrix_.get());
  if (sparse_ != nullptr) check_sparse(*sparse_);
  rows_ = row_count(*matrix_);
  cols_ = column_count(*matrix_);
  std::size_t size = 0;
  if (dense_ != nullptr) {
    dense_stride_ = dense_vector_stride(dense_->stride());
    size = most_vectors * dense_stride_;
  } else {
    // A narrower pass may use narrower SIMD vectors, never a longer stride.
    size = cols_ * kernels_->sparse_stride(most_vectors);
  }
  vectors_.resize(size);
  sums_.resize(size);
}

PackedShape FeaturePasses::packed_shape(std::size_t vectors) const {
  return {.vectors = vectors, .stride = dense_ != nullptr ? dense_stride_ : kernels_->sparse_stride(vectors)};
}

void FeaturePasses::begin(std::size_t vectors, std::size_t sums) {
  vector_shape_ = packed_shape(vectors);
  sum_shape_ = packed_shape(sums);
  const std::size_t pieces = dense_ != nullptr ? sums : cols_;
  std::fill_n(sums_.data(), pieces * sum_shape_.stride, 0.0);
}

void FeaturePasses::load(std::size_t first, std::span<const double> w) {
  assert(cols_ == 0 || first + w.size() / cols_ <= vector_shape_.vectors);
  if (dense_ != nullptr) {
    for (std::size_t v = 0; v * cols_ < w.size(); ++v) {
      std::copy_n(w.data() + v * cols_, cols_, vectors_.data() + (first + v) * vector_shape_.stride);
    }
    return;
  }
  const std::size_t n = cols_ == 0 ? 0 : w.size() / cols_;
  for (std::size_t k = 0; k < cols_; ++k) {
    double* piece = vectors_.data() + k * vector_shape_.stride;
    for (std::size_t v = 0; v < n; ++v) piece[first + v] = w[v * cols_ + k];
    // The padding may hold a wider pass's values; its products are not used, but must not trap or slow down.
    if (first + n == vector_shape_.vectors) std::fill(piece + first + n, piece + vector_shape_.stride, 0.0);
  }
}

DenseBlock FeaturePasses::dense_block(std::size_t row, std::size_t count) const {
  const std::size_t next = row + 2 * count <= rows_ ? row + count : row;
  return {.first = dense_->row(row),
          .next = dense_->row(next),
          .stride = dense_->stride(),
          .count = count,
          .cols = cols_};
}

SparseBlock FeaturePasses::sparse_block(std::size_t row, std::size_t count) const {
  return {.row_begin = sparse_->row_begin.data() + row,
          .column = sparse_->column.data(),
          .value = sparse_->value.data(),
          .count = count};
}

void FeaturePasses::products(std::size_t row, std::size_t count, double* z) const {
  if (dense_ != nullptr) {
    kernels_->dense_products(dense_block(row, count), vectors_.data(), vector_shape_, z);
  } else {
    kernels_->sparse_products(sparse_block(row, count), vectors_.data(), vector_shape_, z);
  }
}

void FeaturePasses::accumulate(std::size_t row, std::size_t count, const double* coefficient) {
  if (dense_ != nullptr) {
    kernels_->dense_accumulate(dense_block(row, count), coefficient, sum_shape_, sums_.data());
  } else {
    kernels_->sparse_accumulate(sparse_block(row, count), coefficient, sum_shape_, sums_.data());
  }
}

void FeaturePasses::store_sums(std::size_t first, std::span<double> out) const {
  if (dense_ != nullptr) {
    for (std::size_t v = 0; v * cols_ < out.size(); ++v) {
      std::copy_n(sums_.data() + (first + v) * sum_shape_.stride, cols_, out.data() + v * cols_);
    }
    return;
  }
  const std::size_t n = cols_ == 0 ? 0 : out.size() / cols_;
  for (std::size_t k = 0; k < cols_; ++k) {
    const double* piece = sums_.data() + k * sum_shape_.stride;
    for (std::size_t v = 0; v < n; ++v) out[v * cols_ + k] = piece[first + v];
  }
}

}  // namespace adbo::kernels::detail
