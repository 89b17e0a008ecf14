#pragma once
// The inner loops of every loss, written once for all vector widths and chosen at run time.
//
// All of them work on a block of at most kBlockRows rows, which stays in cache between the forward pass
// (products of the rows with some weight vectors) and the backward pass (sums of the rows with some
// coefficients):
//
//   products:    z[v][r] = sum_k w[v][k] x[r][k]        one z per vector v and row r of the block
//   link:        z -> losses and coefficients           softmax or logistic, see below
//   accumulate:  g[v][k] += sum_r coefficient[v][r] x[r][k]
//
// Tables over a block, here called block tables, are [vectors x kBlockRows] doubles, vector after vector,
// aligned to kVectorAlignment. The row index is the fast one, so that the links handle one row per SIMD lane
// and need neither horizontal sums nor padding of the classes. Entries beyond the block's last row are finite
// and never used.

#include <cstddef>
#include <cstdint>

namespace adbo::kernels::detail {

inline constexpr std::size_t kBlockRows = 32;
/// Rows that a symmetric update takes at a time: enough for the sums, which it loads and stores, not to
/// count.
inline constexpr std::size_t kGramRows = 64;

/// Rows of a dense block.
struct DenseBlock {
  const float* first;  ///< first row, aligned to kVectorAlignment
  const float*
      next;  ///< `count` rows that will be wanted next: the backward pass fetches them into the cache
  std::size_t stride;  ///< floats from row to row
  std::size_t count;   ///< rows, 1..kBlockRows
  std::size_t
      cols;  ///< features; readable up to the next multiple of DenseRows::kRowPadding, zero beyond cols
};

/// Rows of a block in compressed-row form.
struct SparseBlock {
  const std::int64_t* row_begin;  ///< [count + 1], offsets into column and value
  const std::int32_t* column;
  const float* value;
  std::size_t count;  ///< rows, 1..kBlockRows
};

/// Vectors [vectors x cols] as the kernels store them.
/// Dense: vector after vector, `stride` doubles apart (a multiple of DenseRows::kRowPadding, zero beyond
/// cols). Sparse: feature after feature, `stride` doubles apart (sparse_stride(vectors), zero beyond
/// vectors), so that one non-zero entry of a row touches one contiguous piece.
struct PackedShape {
  std::size_t vectors;
  std::size_t stride;
};

/// Rows packed for a symmetric update: panels of `lanes` features each, [panels][kGramRows][lanes], so that
/// whatever a tile of the update reads lies together. The last panel is zero beyond the features.
struct GramShape {
  std::size_t lanes;   ///< features of a panel
  std::size_t panels;  ///< that cover the features
  [[nodiscard]] std::size_t width() const { return lanes * panels; }
};

/// The rows of a block as the links see them.
struct LinkRows {
  const double* label;  ///< [kBlockRows] class index, or -1 / +1; may begin at any row, hence not aligned
  std::size_t count;    ///< rows, 1..kBlockRows
};

/// One instruction set's version of every loop. All pointers to doubles are aligned to kVectorAlignment,
/// except the sparse vectors, which need the alignment of double only.
struct BlockKernels {
  const char* instruction_set;

  void (*dense_products)(const DenseBlock& x, const double* w, PackedShape shape, double* z);
  void (*dense_accumulate)(const DenseBlock& x, const double* coefficient, PackedShape shape, double* g);

  std::size_t (*sparse_stride)(std::size_t vectors);
  void (*sparse_products)(const SparseBlock& x, const double* w, PackedShape shape, double* z);
  void (*sparse_accumulate)(const SparseBlock& x, const double* coefficient, PackedShape shape, double* g);

  GramShape (*gram_shape)(std::size_t cols);
  /// factor times a row of features, readable as that of a DenseBlock, becomes row `slot` of `packed`.
  void (*gram_pack)(const float* row, double factor, GramShape shape, std::size_t slot, double* packed);
  /// sums [width x width] += the products of the features over the rows 0, ..., rows - 1 of `packed`; of the
  /// blocks [lanes x lanes] those on the diagonal and to the right of it.
  void (*gram_update)(const double* packed, std::size_t rows, GramShape shape, double* sums);

  /// logits [classes x kBlockRows] become probabilities; loss[r] is the cross entropy and miss[r] the
  /// probability of all classes but the label, computed without cancellation (both keep their relative
  /// accuracy when tiny). A row with a logit that is not finite gets NaN everywhere.
  void (*softmax)(const LinkRows& rows, std::size_t classes, double* logits, double* loss, double* miss);
  /// probabilities p become scale[r] d loss / d logit = scale[r] (p - 1[label]).
  void (*softmax_residual)(const LinkRows& rows, std::size_t classes, const double* scale, const double* miss,
                           double* probabilities);
  /// With t the products of the rows with a direction: derivative[r] = sum_c (p_c - 1[c = label]) t_c, and t
  /// becomes scale[r] times (Hessian of the loss in the logits) t, that is scale[r] p_c (t_c - sum_d p_d
  /// t_d).
  void (*softmax_hessian)(const LinkRows& rows, std::size_t classes, const double* scale,
                          const double* probabilities, double* t, double* derivative);

  /// For z[r] = w.x_r: loss[r] = log(1 + exp(-label z)) and its first two derivatives in z.
  /// A row whose z is not finite gets NaN everywhere.
  void (*logistic)(const LinkRows& rows, const double* z, double* loss, double* slope, double* curvature);
};

/// The best version that this machine runs. The choice is made when it is called: keep the reference.
const BlockKernels& block_kernels();

}  // namespace adbo::kernels::detail
