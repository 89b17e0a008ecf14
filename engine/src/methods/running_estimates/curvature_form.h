#pragma once

#include <cstddef>

#include "adbo/problem.h"

namespace adbo::detail {

/// What the workers can tell of the lower Hessian.
struct CurvatureForm {
  enum class Kind { kNone, kDiagonal, kBlock };
  Kind kind = Kind::kNone;
  std::size_t size = 0;  ///< b: one block or diagonal serves each of the m / b pieces of y

  /// That travel in one message.
  [[nodiscard]] std::size_t numbers() const { return kind == Kind::kBlock ? size * size : size; }
};

/// Blocks where every worker gives blocks of one size, diagonals where every worker gives those, or nothing:
/// a mean over the workers has to exist.
[[nodiscard]] CurvatureForm common_curvature_form(const Problem& problem);

}  // namespace adbo::detail
