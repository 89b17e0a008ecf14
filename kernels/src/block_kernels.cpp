// Compiled once per instruction set: foreach_target.h includes this file again for each of them.
#include "block_kernels.h"

#include <algorithm>

#include "adbo/kernels/aligned.h"
#include "adbo/kernels/instruction_set.h"

// Left out: instruction sets whose code for doubles would equal or hardly differ from the next lower one
// (SSSE3, AVX3_DL), and vectors of unknown length (SVE, RVV), which cannot live in the arrays of the tiles
// below.
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#define HWY_TARGET_INCLUDE "block_kernels.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// After foreach_target.h.
#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"

// Loops over the entries of a register tile must vanish, or the tile ends up on the stack.
#define ADBO_UNROLL _Pragma("GCC unroll 32")

HWY_BEFORE_NAMESPACE();
namespace adbo::kernels::detail::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;
constexpr std::size_t kLanes = hn::MaxLanes(D());
// AVX-512 has 32 vector registers, the other x86 sets 16. Measured tile sizes: see the two functions *_tile.
constexpr bool kManyRegisters = kLanes >= 8;
static_assert(kBlockRows % kLanes == 0);

HWY_INLINE V load_features(const float* x) {
  const D d;
  const hn::Rebind<float, D> df;
  return hn::PromoteTo(d, hn::Load(df, x));
}

/// The sizes of the fewest tiles, at most `largest` wide each, that cover `total` as evenly as possible;
/// calls body(first, size) for each in order.
template <class Body>
HWY_INLINE void for_each_tile(std::size_t total, std::size_t largest, const Body& body) {
  std::size_t tiles = (total + largest - 1) / largest;
  for (std::size_t first = 0; tiles != 0; --tiles) {
    const std::size_t size = (total - first + tiles - 1) / tiles;
    body(first, size);
    first += size;
  }
}

// ---------------------------------------------------------------------------------------------------- dense,
// forward

/// Vectors per forward tile. A tile is [rows x vectors] accumulators, and per feature vector it pays for
/// `rows` conversions to double; wider tiles would need more of W at a time than the L1 cache delivers.
constexpr std::size_t kProductVectors = 5;

constexpr std::size_t product_tile_rows(std::size_t vectors) {
  const std::size_t accumulators = kManyRegisters ? 24 : 12;
  std::size_t rows = kLanes;
  while (rows * vectors > accumulators) rows /= 2;
  return rows;
}

/// The sums over the lanes of kLanes vectors, in their order, as one vector.
HWY_INLINE V sums_of_lanes(const V (&v)[kLanes]) {
#if HWY_MAX_BYTES < 16
  return v[0];
#else
  const D d;
  const auto pair = [d](V a, V b) HWY_ATTR {
    return hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));
  };
#if HWY_MAX_BYTES == 16
  return pair(v[0], v[1]);
#else
  const auto halves = [d](V ab, V cd) HWY_ATTR {
    return hn::Add(hn::ConcatLowerLower(d, cd, ab), hn::ConcatUpperUpper(d, cd, ab));
  };
#if HWY_MAX_BYTES == 32
  return halves(pair(v[0], v[1]), pair(v[2], v[3]));
#else
  static_assert(kLanes == 8);
  // In blocks of two lanes low is [01, 01', 45, 45'] and high is [23, 23', 67, 67']: the sums of neighbouring
  // blocks, taken from low and high in turn, come out in order.
  const V low = halves(pair(v[0], v[1]), pair(v[4], v[5]));
  const V high = halves(pair(v[2], v[3]), pair(v[6], v[7]));
  return hn::Add(hn::OddEvenBlocks(high, low), hn::SwapAdjacentBlocks(hn::OddEvenBlocks(low, high)));
#endif
#endif
#endif
}

/// The products of kRows rows with kVectors vectors, still spread over the lanes, into sums[v][first_sum +
/// r].
template <std::size_t kRows, std::size_t kVectors>
HWY_INLINE void product_tile(const float* const (&rows)[kRows], const double* w, std::size_t w_stride,
                             std::size_t cols, V (&sums)[kVectors][kLanes], std::size_t first_sum) {
  const D d;
  V acc[kVectors][kRows];
  ADBO_UNROLL
  for (std::size_t v = 0; v < kVectors; ++v) {
    ADBO_UNROLL
    for (std::size_t r = 0; r < kRows; ++r) acc[v][r] = hn::Zero(d);
  }
  for (std::size_t k = 0; k < cols; k += kLanes) {
    V x[kRows];
    ADBO_UNROLL
    for (std::size_t r = 0; r < kRows; ++r) x[r] = load_features(rows[r] + k);
    ADBO_UNROLL
    for (std::size_t v = 0; v < kVectors; ++v) {
      const V wv = hn::Load(d, w + v * w_stride + k);
      ADBO_UNROLL
      for (std::size_t r = 0; r < kRows; ++r) acc[v][r] = hn::MulAdd(x[r], wv, acc[v][r]);
    }
  }
  ADBO_UNROLL
  for (std::size_t v = 0; v < kVectors; ++v) {
    ADBO_UNROLL
    for (std::size_t r = 0; r < kRows; ++r) sums[v][first_sum + r] = acc[v][r];
  }
}

/// One tile of vectors with all rows of the block, kLanes rows at a time. The tile of w stays in the L1
/// cache.
template <std::size_t kVectors>
HWY_INLINE void products_of_vectors(const DenseBlock& x, const double* w, std::size_t w_stride, double* z) {
  constexpr std::size_t kRows = product_tile_rows(kVectors);
  const D d;
  for (std::size_t group = 0; group < x.count; group += kLanes) {
    V sums[kVectors][kLanes];
    for (std::size_t sub = 0; sub < kLanes; sub += kRows) {
      const float* rows[kRows];
      for (std::size_t r = 0; r < kRows; ++r) {
        // Lanes beyond the last row repeat it: finite, and nobody looks at them.
        rows[r] = x.first + std::min(group + sub + r, x.count - 1) * x.stride;
      }
      product_tile<kRows, kVectors>(rows, w, w_stride, x.cols, sums, sub);
    }
    ADBO_UNROLL
    for (std::size_t v = 0; v < kVectors; ++v)
      hn::Store(sums_of_lanes(sums[v]), d, z + v * kBlockRows + group);
  }
}

void dense_products(const DenseBlock& x, const double* w, PackedShape shape, double* z) {
  for_each_tile(shape.vectors, kProductVectors, [&](std::size_t first, std::size_t size) HWY_ATTR {
    const double* tile_w = w + first * shape.stride;
    double* tile_z = z + first * kBlockRows;
    switch (size) {
      case 1:
        return products_of_vectors<1>(x, tile_w, shape.stride, tile_z);
      case 2:
        return products_of_vectors<2>(x, tile_w, shape.stride, tile_z);
      case 3:
        return products_of_vectors<3>(x, tile_w, shape.stride, tile_z);
      case 4:
        return products_of_vectors<4>(x, tile_w, shape.stride, tile_z);
      default:
        return products_of_vectors<kProductVectors>(x, tile_w, shape.stride, tile_z);
    }
  });
}

// --------------------------------------------------------------------------------------------------- dense,
// backward

/// Vectors per backward tile, and feature vectors: [vectors x kSpan] accumulators.
constexpr std::size_t kSumVectors = kManyRegisters ? 10 : 5;
constexpr std::size_t kSpan = 2;

template <std::size_t kVectors, std::size_t kFeatureVectors>
HWY_INLINE void accumulate_tile(const DenseBlock& x, std::size_t k, const double* coefficient,
                                std::size_t g_stride, double* g) {
  const D d;
  V acc[kVectors][kFeatureVectors];
  ADBO_UNROLL
  for (std::size_t v = 0; v < kVectors; ++v) {
    ADBO_UNROLL
    for (std::size_t f = 0; f < kFeatureVectors; ++f)
      acc[v][f] = hn::Load(d, g + v * g_stride + k + f * kLanes);
  }
  for (std::size_t r = 0; r < x.count; ++r) {
    const float* row = x.first + r * x.stride + k;
    V features[kFeatureVectors];
    ADBO_UNROLL
    for (std::size_t f = 0; f < kFeatureVectors; ++f) features[f] = load_features(row + f * kLanes);
    __builtin_prefetch(x.next + r * x.stride + k, 0, 2);  // into L2: a block is larger than L1
    ADBO_UNROLL
    for (std::size_t v = 0; v < kVectors; ++v) {
      const V c = hn::Set(d, coefficient[v * kBlockRows + r]);
      ADBO_UNROLL
      for (std::size_t f = 0; f < kFeatureVectors; ++f) acc[v][f] = hn::MulAdd(features[f], c, acc[v][f]);
    }
  }
  ADBO_UNROLL
  for (std::size_t v = 0; v < kVectors; ++v) {
    ADBO_UNROLL
    for (std::size_t f = 0; f < kFeatureVectors; ++f)
      hn::Store(acc[v][f], d, g + v * g_stride + k + f * kLanes);
  }
}

template <std::size_t kVectors>
HWY_INLINE void accumulate_vectors(const DenseBlock& x, const double* coefficient, std::size_t g_stride,
                                   double* g) {
  std::size_t k = 0;
  for (; k + kLanes < x.cols; k += kSpan * kLanes) {
    accumulate_tile<kVectors, kSpan>(x, k, coefficient, g_stride, g);
  }
  if (k < x.cols) accumulate_tile<kVectors, 1>(x, k, coefficient, g_stride, g);
}

void dense_accumulate(const DenseBlock& x, const double* coefficient, PackedShape shape, double* g) {
  for_each_tile(shape.vectors, kSumVectors, [&](std::size_t first, std::size_t size) HWY_ATTR {
    const double* tile_coefficient = coefficient + first * kBlockRows;
    double* tile_g = g + first * shape.stride;
    switch (size) {
      case 1:
        return accumulate_vectors<1>(x, tile_coefficient, shape.stride, tile_g);
      case 2:
        return accumulate_vectors<2>(x, tile_coefficient, shape.stride, tile_g);
      case 3:
        return accumulate_vectors<3>(x, tile_coefficient, shape.stride, tile_g);
      case 4:
        return accumulate_vectors<4>(x, tile_coefficient, shape.stride, tile_g);
      case 5:
        return accumulate_vectors<5>(x, tile_coefficient, shape.stride, tile_g);
#if HWY_MAX_BYTES >= 64
      case 6:
        return accumulate_vectors<6>(x, tile_coefficient, shape.stride, tile_g);
      case 7:
        return accumulate_vectors<7>(x, tile_coefficient, shape.stride, tile_g);
      case 8:
        return accumulate_vectors<8>(x, tile_coefficient, shape.stride, tile_g);
      case 9:
        return accumulate_vectors<9>(x, tile_coefficient, shape.stride, tile_g);
#endif
      default:
        return accumulate_vectors<kSumVectors>(x, tile_coefficient, shape.stride, tile_g);
    }
  });
}

// -----------------------------------------------------------------------------------------------------------
// dense, symmetric

/// Panels to the right of a tile of the symmetric update: [kLanes x panels] accumulators.
constexpr std::size_t kGramPanels = 3;

GramShape gram_shape(std::size_t cols) { return {.lanes = kLanes, .panels = (cols + kLanes - 1) / kLanes}; }

void gram_pack(const float* row, double factor, GramShape shape, std::size_t slot, double* packed) {
  const D d;
  const V scale = hn::Set(d, factor);
  for (std::size_t p = 0; p < shape.panels; ++p) {
    const V scaled = hn::Mul(scale, load_features(row + p * kLanes));
    hn::Store(scaled, d, packed + (p * kGramRows + slot) * kLanes);
  }
}

/// The features of the panel `left` with those of kPanels panels from `right` on. `sums` is where the first
/// of both meet.
template <std::size_t kPanels>
HWY_INLINE void gram_tile(const double* left, const double* right, std::size_t rows, std::size_t width,
                          double* sums) {
  const D d;
  V acc[kLanes][kPanels];
  ADBO_UNROLL
  for (std::size_t a = 0; a < kLanes; ++a) {
    ADBO_UNROLL
    for (std::size_t p = 0; p < kPanels; ++p) acc[a][p] = hn::Load(d, sums + a * width + p * kLanes);
  }
  for (std::size_t r = 0; r < rows; ++r) {
    V features[kPanels];
    ADBO_UNROLL
    for (std::size_t p = 0; p < kPanels; ++p) {
      features[p] = hn::Load(d, right + (p * kGramRows + r) * kLanes);
    }
    ADBO_UNROLL
    for (std::size_t a = 0; a < kLanes; ++a) {
      const V feature = hn::Set(d, left[r * kLanes + a]);
      ADBO_UNROLL
      for (std::size_t p = 0; p < kPanels; ++p) acc[a][p] = hn::MulAdd(feature, features[p], acc[a][p]);
    }
  }
  ADBO_UNROLL
  for (std::size_t a = 0; a < kLanes; ++a) {
    ADBO_UNROLL
    for (std::size_t p = 0; p < kPanels; ++p) hn::Store(acc[a][p], d, sums + a * width + p * kLanes);
  }
}

void gram_update(const double* packed, std::size_t rows, GramShape shape, double* sums) {
  const std::size_t width = shape.width();
  constexpr std::size_t kPanel = kGramRows * kLanes;
  for (std::size_t p = 0; p < shape.panels; ++p) {
    for_each_tile(shape.panels - p, kGramPanels, [&](std::size_t first, std::size_t size) HWY_ATTR {
      const double* const left = packed + p * kPanel;
      const double* const right = left + first * kPanel;
      double* const corner = sums + p * kLanes * width + (p + first) * kLanes;
      switch (size) {
        case 1:
          return gram_tile<1>(left, right, rows, width, corner);
        case 2:
          return gram_tile<2>(left, right, rows, width, corner);
        default:
          return gram_tile<kGramPanels>(left, right, rows, width, corner);
      }
    });
  }
}

// ------------------------------------------------------------------------------------------------------------
// sparse

/// Lanes that the sparse loops use for so many vectors: no wider than the vectors fill.
constexpr std::size_t sparse_lanes(std::size_t vectors) {
  std::size_t lanes = 1;
  while (lanes < vectors && lanes < kLanes) lanes *= 2;
  return lanes;
}

std::size_t sparse_stride(std::size_t vectors) {
  const std::size_t lanes = sparse_lanes(vectors);
  return (vectors + lanes - 1) / lanes * lanes;
}

/// SIMD vectors of accumulators that a sparse row keeps in registers while its non-zeros pass.
constexpr std::size_t kSparseTile = 4;

template <std::size_t kSimdVectors, class DN>
HWY_INLINE void sparse_row_products(const SparseBlock& x, std::size_t r, const double* w, std::size_t stride,
                                    DN d, double* products) {
  hn::Vec<DN> acc[kSimdVectors];
  ADBO_UNROLL
  for (std::size_t i = 0; i < kSimdVectors; ++i) acc[i] = hn::Zero(d);
  for (std::int64_t n = x.row_begin[r]; n < x.row_begin[r + 1]; ++n) {
    const double* piece = w + static_cast<std::size_t>(x.column[n]) * stride;
    const auto value = hn::Set(d, static_cast<double>(x.value[n]));
    ADBO_UNROLL
    for (std::size_t i = 0; i < kSimdVectors; ++i) {
      acc[i] = hn::MulAdd(value, hn::LoadU(d, piece + i * hn::MaxLanes(d)), acc[i]);
    }
  }
  ADBO_UNROLL
  for (std::size_t i = 0; i < kSimdVectors; ++i) hn::StoreU(acc[i], d, products + i * hn::MaxLanes(d));
}

template <std::size_t kSimdVectors, class DN>
HWY_INLINE void sparse_row_accumulate(const SparseBlock& x, std::size_t r, const double* coefficient,
                                      std::size_t stride, DN d, double* g) {
  hn::Vec<DN> c[kSimdVectors];
  ADBO_UNROLL
  for (std::size_t i = 0; i < kSimdVectors; ++i) c[i] = hn::LoadU(d, coefficient + i * hn::MaxLanes(d));
  for (std::int64_t n = x.row_begin[r]; n < x.row_begin[r + 1]; ++n) {
    double* piece = g + static_cast<std::size_t>(x.column[n]) * stride;
    const auto value = hn::Set(d, static_cast<double>(x.value[n]));
    ADBO_UNROLL
    for (std::size_t i = 0; i < kSimdVectors; ++i) {
      double* entry = piece + i * hn::MaxLanes(d);
      hn::StoreU(hn::MulAdd(value, c[i], hn::LoadU(d, entry)), d, entry);
    }
  }
}

/// Calls body.operator()<size>(first) for tiles of at most kSparseTile SIMD vectors that cover the stride.
template <class Body>
HWY_INLINE void for_each_sparse_tile(std::size_t stride, std::size_t lanes, const Body& body) {
  for_each_tile(stride / lanes, kSparseTile, [&](std::size_t first, std::size_t size) HWY_ATTR {
    switch (size) {
      case 1:
        return body.template operator()<1>(first * lanes);
      case 2:
        return body.template operator()<2>(first * lanes);
      case 3:
        return body.template operator()<3>(first * lanes);
      default:
        return body.template operator()<kSparseTile>(first * lanes);
    }
  });
}

template <std::size_t kUsedLanes>
void sparse_products_with(const SparseBlock& x, const double* w, PackedShape shape, double* z) {
  const hn::CappedTag<double, kUsedLanes> d;
  const auto tile = [&]<std::size_t kSimdVectors>(std::size_t first) HWY_ATTR {
    const std::size_t used = std::min(kSimdVectors * kUsedLanes, shape.vectors - first);
    for (std::size_t r = 0; r < x.count; ++r) {
      double products[kSparseTile * kUsedLanes];
      sparse_row_products<kSimdVectors>(x, r, w + first, shape.stride, d, products);
      for (std::size_t v = 0; v < used; ++v) z[(first + v) * kBlockRows + r] = products[v];
    }
  };
  for_each_sparse_tile(shape.stride, kUsedLanes, tile);
}

template <std::size_t kUsedLanes>
void sparse_accumulate_with(const SparseBlock& x, const double* coefficient, PackedShape shape, double* g) {
  const hn::CappedTag<double, kUsedLanes> d;
  const auto tile = [&]<std::size_t kSimdVectors>(std::size_t first) HWY_ATTR {
    const std::size_t used = std::min(kSimdVectors * kUsedLanes, shape.vectors - first);
    double row_coefficient[kSparseTile * kUsedLanes] = {};
    for (std::size_t r = 0; r < x.count; ++r) {
      for (std::size_t v = 0; v < used; ++v) row_coefficient[v] = coefficient[(first + v) * kBlockRows + r];
      sparse_row_accumulate<kSimdVectors>(x, r, row_coefficient, shape.stride, d, g + first);
    }
  };
  for_each_sparse_tile(shape.stride, kUsedLanes, tile);
}

void sparse_products(const SparseBlock& x, const double* w, PackedShape shape, double* z) {
  for (std::size_t v = 0; v < shape.vectors; ++v)
    std::fill_n(z + v * kBlockRows + x.count, kBlockRows - x.count, 0.0);
  switch (sparse_lanes(shape.vectors)) {
    case 1:
      return sparse_products_with<1>(x, w, shape, z);
#if HWY_MAX_BYTES >= 32
    case 2:
      return sparse_products_with<2>(x, w, shape, z);
#endif
#if HWY_MAX_BYTES >= 64
    case 4:
      return sparse_products_with<4>(x, w, shape, z);
#endif
    default:
      return sparse_products_with<kLanes>(x, w, shape, z);
  }
}

void sparse_accumulate(const SparseBlock& x, const double* coefficient, PackedShape shape, double* g) {
  switch (sparse_lanes(shape.vectors)) {
    case 1:
      return sparse_accumulate_with<1>(x, coefficient, shape, g);
#if HWY_MAX_BYTES >= 32
    case 2:
      return sparse_accumulate_with<2>(x, coefficient, shape, g);
#endif
#if HWY_MAX_BYTES >= 64
    case 4:
      return sparse_accumulate_with<4>(x, coefficient, shape, g);
#endif
    default:
      return sparse_accumulate_with<kLanes>(x, coefficient, shape, g);
  }
}

// -------------------------------------------------------------------------------------------------------------
// links

void softmax(const LinkRows& rows, std::size_t classes, double* logits, double* loss, double* miss) {
  const D d;
  const V zero = hn::Zero(d), one = hn::Set(d, 1.0);
  for (std::size_t r = 0; r < rows.count; r += kLanes) {
    const V label = hn::LoadU(d, rows.label + r);
    V largest = hn::Load(d, logits + r);
    V label_logit = zero;
    V poison = zero;  // 0, or NaN where a logit is not finite: comparisons would swallow it
    for (std::size_t c = 0; c < classes; ++c) {
      const V z = hn::Load(d, logits + c * kBlockRows + r);
      largest = hn::Max(largest, z);
      poison = hn::Add(poison, hn::Sub(z, z));
      label_logit = hn::IfThenElse(hn::Eq(label, hn::Set(d, static_cast<double>(c))), z, label_logit);
    }
    V others = poison;  // sum of exp(z_c - largest) over the classes but the label
    for (std::size_t c = 0; c < classes; ++c) {
      double* entry = logits + c * kBlockRows + r;
      const V e = hn::Exp(d, hn::Sub(hn::Load(d, entry), largest));
      hn::Store(e, d, entry);
      const auto is_label = hn::Eq(label, hn::Set(d, static_cast<double>(c)));
      others = hn::Add(others, hn::IfThenZeroElse(is_label, e));
    }
    const V label_gap = hn::Sub(label_logit, largest);
    const V label_exp = hn::Exp(d, label_gap);
    // log(sum) = log1p(sum - 1), where sum - 1 is exact for the label of a confident row (label_exp = 1).
    const V sum_minus_one = hn::Add(others, hn::Sub(label_exp, one));
    hn::Store(hn::Sub(hn::Log1p(d, sum_minus_one), label_gap), d, loss + r);
    const V inverse = hn::Div(one, hn::Add(others, label_exp));
    hn::Store(hn::Mul(others, inverse), d, miss + r);
    for (std::size_t c = 0; c < classes; ++c) {
      double* entry = logits + c * kBlockRows + r;
      hn::Store(hn::Mul(hn::Load(d, entry), inverse), d, entry);
    }
  }
}

void softmax_residual(const LinkRows& rows, std::size_t classes, const double* scale, const double* miss,
                      double* probabilities) {
  const D d;
  for (std::size_t r = 0; r < rows.count; r += kLanes) {
    const V label = hn::LoadU(d, rows.label + r);
    const V factor = hn::Load(d, scale + r);
    const V at_label = hn::Neg(hn::Load(d, miss + r));
    for (std::size_t c = 0; c < classes; ++c) {
      double* entry = probabilities + c * kBlockRows + r;
      const auto is_label = hn::Eq(label, hn::Set(d, static_cast<double>(c)));
      hn::Store(hn::Mul(factor, hn::IfThenElse(is_label, at_label, hn::Load(d, entry))), d, entry);
    }
  }
}

void softmax_hessian(const LinkRows& rows, std::size_t classes, const double* scale,
                     const double* probabilities, double* t, double* derivative) {
  const D d;
  for (std::size_t r = 0; r < rows.count; r += kLanes) {
    const V label = hn::LoadU(d, rows.label + r);
    const V factor = hn::Load(d, scale + r);
    V label_t = hn::Zero(d);
    for (std::size_t c = 0; c < classes; ++c) {
      const auto is_label = hn::Eq(label, hn::Set(d, static_cast<double>(c)));
      label_t = hn::IfThenElse(is_label, hn::Load(d, t + c * kBlockRows + r), label_t);
    }
    // Relative to the label's t, the sum needs no term for the label and cancels least where p is nearly 1
    // there.
    V mean = hn::Zero(d);
    for (std::size_t c = 0; c < classes; ++c) {
      const std::size_t at = c * kBlockRows + r;
      mean = hn::MulAdd(hn::Load(d, probabilities + at), hn::Sub(hn::Load(d, t + at), label_t), mean);
    }
    hn::Store(mean, d, derivative + r);
    for (std::size_t c = 0; c < classes; ++c) {
      const std::size_t at = c * kBlockRows + r;
      const V centred = hn::Sub(hn::Sub(hn::Load(d, t + at), label_t), mean);
      hn::Store(hn::Mul(hn::Mul(factor, hn::Load(d, probabilities + at)), centred), d, t + at);
    }
  }
}

void logistic(const LinkRows& rows, const double* z, double* loss, double* slope, double* curvature) {
  const D d;
  const V zero = hn::Zero(d), one = hn::Set(d, 1.0);
  for (std::size_t r = 0; r < rows.count; r += kLanes) {
    const V label = hn::LoadU(d, rows.label + r);
    const V margin = hn::Mul(label, hn::Load(d, z + r));
    const V poison = hn::Sub(margin, margin);
    const V e = hn::Add(hn::Exp(d, hn::Neg(hn::Abs(margin))), poison);
    const V inverse = hn::Div(one, hn::Add(one, e));  // sigma(|margin|)
    hn::Store(hn::Add(hn::Max(zero, hn::Neg(margin)), hn::Log1p(d, e)), d, loss + r);
    const V wrong = hn::IfThenElse(hn::Lt(margin, zero), inverse, hn::Mul(e, inverse));  // sigma(-margin)
    hn::Store(hn::Neg(hn::Mul(label, wrong)), d, slope + r);
    hn::Store(hn::Mul(e, hn::Mul(inverse, inverse)), d, curvature + r);
  }
}

constexpr const char* instruction_set_name() {
  switch (HWY_TARGET) {
    case HWY_AVX3:
      return "AVX-512";
    case HWY_AVX2:
      return "AVX2";
    case HWY_SSE4:
      return "SSE4.1";
    case HWY_NEON:
      return "NEON";
    default:
      return "baseline";  // what every processor of the compiler's target has: SSE2 on x86-64
  }
}

constexpr BlockKernels kKernels = {
    .instruction_set = instruction_set_name(),
    .dense_products = dense_products,
    .dense_accumulate = dense_accumulate,
    .sparse_stride = sparse_stride,
    .sparse_products = sparse_products,
    .sparse_accumulate = sparse_accumulate,
    .gram_shape = gram_shape,
    .gram_pack = gram_pack,
    .gram_update = gram_update,
    .softmax = softmax,
    .softmax_residual = softmax_residual,
    .softmax_hessian = softmax_hessian,
    .logistic = logistic,
};

}  // namespace

const BlockKernels* kernels_of_target() { return &kKernels; }

}  // namespace adbo::kernels::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace adbo::kernels {
namespace detail {

HWY_EXPORT(kernels_of_target);

const BlockKernels& block_kernels() { return *HWY_DYNAMIC_DISPATCH(kernels_of_target)(); }

}  // namespace detail

std::string_view active_instruction_set() { return detail::block_kernels().instruction_set; }

}  // namespace adbo::kernels
#endif  // HWY_ONCE
