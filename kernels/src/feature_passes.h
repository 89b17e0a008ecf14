#pragma once
// Passes over the rows of a feature matrix, dense or sparse behind one face, block by block: what the losses
// share.

#include <memory>
#include <span>

#include "adbo/kernels/aligned.h"
#include "adbo/kernels/rows.h"
#include "block_kernels.h"

namespace adbo::kernels::detail {

/// A pass is: begin(); load() the weight vectors; for every block products(), then, where there are sums,
/// accumulate(); at the end store_sums(). All memory is allocated by the constructor.
class FeaturePasses {
 public:
  /// Passes with at most `most_vectors` weight vectors at a time. Throws std::invalid_argument where `rows`
  /// is null or not a valid compressed-row matrix.
  FeaturePasses(std::shared_ptr<const Rows> rows, std::size_t most_vectors);

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t cols() const { return cols_; }
  [[nodiscard]] const BlockKernels& kernels() const { return *kernels_; }

  /// Starts a pass with so many weight vectors and so many sums, which become zero.
  void begin(std::size_t vectors, std::size_t sums);
  /// Takes w [n x cols], class-major, as the vectors first, first + 1, ...
  void load(std::size_t first, std::span<const double> w);

  /// The products of the weight vectors with the rows [row, row + count) into the block table z.
  void products(std::size_t row, std::size_t count, double* z) const;
  /// Adds the rows [row, row + count), times the block table of coefficients, to the sums.
  void accumulate(std::size_t row, std::size_t count, const double* coefficient);

  /// Writes the sums first, first + 1, ... to out [n x cols], class-major.
  void store_sums(std::size_t first, std::span<double> out) const;

 private:
  [[nodiscard]] PackedShape packed_shape(std::size_t vectors) const;
  [[nodiscard]] DenseBlock dense_block(std::size_t row, std::size_t count) const;
  [[nodiscard]] SparseBlock sparse_block(std::size_t row, std::size_t count) const;

  std::shared_ptr<const Rows> matrix_;
  const DenseRows* dense_ = nullptr;  // one of these two is set
  const SparseRows* sparse_ = nullptr;
  const BlockKernels* kernels_;
  std::size_t rows_, cols_;
  std::size_t dense_stride_ = 0;
  PackedShape vector_shape_{}, sum_shape_{};
  AlignedVector<double> vectors_, sums_;  // packed as kernels_ wants them
};

}  // namespace adbo::kernels::detail
