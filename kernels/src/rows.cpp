#include "adbo/kernels/rows.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace adbo::kernels {
namespace {

std::size_t padded_stride(std::size_t cols) {
  constexpr std::size_t kPadding = DenseRows::kRowPadding;
  if (cols > std::numeric_limits<std::size_t>::max() - kPadding)
    throw std::length_error("DenseRows: too many columns");
  return (cols + kPadding - 1) / kPadding * kPadding;
}

std::size_t storage_size(std::size_t rows, std::size_t stride) {
  if (stride != 0 && rows > std::numeric_limits<std::size_t>::max() / sizeof(float) / stride) {
    throw std::length_error("DenseRows: too many entries");
  }
  return rows * stride;
}

void check_index(std::span<const std::size_t> index, std::size_t rows) {
  for (const std::size_t r : index) {
    if (r >= rows) throw std::out_of_range("select_rows: no such row");
  }
}

DenseRows select(const DenseRows& from, std::span<const std::size_t> index) {
  DenseRows chosen(index.size(), from.cols());
  for (std::size_t i = 0; i < index.size(); ++i) {
    std::copy_n(from.row(index[i]), from.cols(), chosen.mutable_row(i));
  }
  return chosen;
}

SparseRows select(const SparseRows& from, std::span<const std::size_t> index) {
  SparseRows chosen;
  chosen.cols = from.cols;
  chosen.row_begin.reserve(index.size() + 1);
  std::int64_t nonzeros = 0;
  for (const std::size_t r : index) {
    nonzeros += from.row_begin[r + 1] - from.row_begin[r];
    chosen.row_begin.push_back(nonzeros);
  }
  chosen.column.reserve(static_cast<std::size_t>(nonzeros));
  chosen.value.reserve(static_cast<std::size_t>(nonzeros));
  for (const std::size_t r : index) {
    const std::int64_t begin = from.row_begin[r], end = from.row_begin[r + 1];
    chosen.column.insert(chosen.column.end(), from.column.begin() + begin, from.column.begin() + end);
    chosen.value.insert(chosen.value.end(), from.value.begin() + begin, from.value.begin() + end);
  }
  return chosen;
}

}  // namespace

DenseRows::DenseRows(std::size_t rows, std::size_t cols)
    : rows_(rows), cols_(cols), stride_(padded_stride(cols)), storage_(storage_size(rows, stride_)) {}

std::size_t row_count(const Rows& rows) {
  return std::visit([](const auto& matrix) { return matrix.rows(); }, rows);
}

std::size_t column_count(const Rows& rows) {
  if (const auto* dense = std::get_if<DenseRows>(&rows)) return dense->cols();
  return std::get<SparseRows>(rows).cols;
}

Rows select_rows(const Rows& rows, std::span<const std::size_t> index) {
  check_index(index, row_count(rows));
  return std::visit([index](const auto& matrix) -> Rows { return select(matrix, index); }, rows);
}

}  // namespace adbo::kernels
