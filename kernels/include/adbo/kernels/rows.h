#pragma once
// Feature matrices: immutable, float32 (half the memory traffic of double; every product is done in double).

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "adbo/kernels/aligned.h"

namespace adbo::kernels {

/// A dense [rows x cols] float32 matrix, row-major. Rows are padded with zeros to a multiple of kRowPadding
/// floats and the storage is aligned to 64 bytes, so that a kernel may read whole vectors. Whoever fills a
/// row writes its first cols() floats alone: the padding must stay zero. A matrix that was moved from is
/// empty (0 x 0).
class DenseRows {
 public:
  static constexpr std::size_t kRowPadding = 16;

  DenseRows() = default;
  /// Zeros. Throws std::length_error where the size is not representable.
  DenseRows(std::size_t rows, std::size_t cols);

  DenseRows(const DenseRows&) = default;
  DenseRows& operator=(const DenseRows&) = default;
  DenseRows(DenseRows&& other) noexcept
      : rows_(std::exchange(other.rows_, 0)),
        cols_(std::exchange(other.cols_, 0)),
        stride_(std::exchange(other.stride_, 0)),
        storage_(std::exchange(other.storage_, {})) {}
  DenseRows& operator=(DenseRows&& other) noexcept {
    rows_ = std::exchange(other.rows_, 0);
    cols_ = std::exchange(other.cols_, 0);
    stride_ = std::exchange(other.stride_, 0);
    storage_ = std::exchange(other.storage_, {});
    return *this;
  }
  ~DenseRows() = default;

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t cols() const { return cols_; }
  /// Floats from one row to the next; a multiple of kRowPadding.
  [[nodiscard]] std::size_t stride() const { return stride_; }
  [[nodiscard]] const float* row(std::size_t r) const { return storage_.data() + r * stride_; }
  [[nodiscard]] float* mutable_row(std::size_t r) { return storage_.data() + r * stride_; }

 private:
  std::size_t rows_ = 0, cols_ = 0, stride_ = 0;
  AlignedVector<float> storage_;  // [rows_ x stride_]
};

/// A sparse [rows x cols] float32 matrix in compressed-row form; column indices ascend within a row.
struct SparseRows {
  std::size_t cols = 0;
  std::vector<std::int64_t> row_begin{0};  // [rows + 1]
  std::vector<std::int32_t> column;        // [non-zeros]
  std::vector<float> value;                // [non-zeros]

  [[nodiscard]] std::size_t rows() const { return row_begin.size() - 1; }
  [[nodiscard]] std::size_t nonzeros() const { return value.size(); }
};

using Rows = std::variant<DenseRows, SparseRows>;

/// The rows begin, ..., end - 1 of a matrix.
struct RowRange {
  std::size_t begin = 0, end = 0;
  [[nodiscard]] std::size_t size() const { return end - begin; }
};

[[nodiscard]] std::size_t row_count(const Rows& rows);
[[nodiscard]] std::size_t column_count(const Rows& rows);
/// The rows named by `index`, in that order (rows may repeat), dense or sparse as `rows` is. An index that is
/// not less than row_count(rows) throws std::out_of_range.
[[nodiscard]] Rows select_rows(const Rows& rows, std::span<const std::size_t> index);

}  // namespace adbo::kernels
