#pragma once

#include "adbo/problem.h"

namespace adbo::detail {

/// What a worker's contribution holds, computed at the (v_i, y_i, q_i) of a broadcast that may be old when it
/// is used (docs/practical.md, "Late contributions").
enum class ContributionForm {
  /// grad_y g_i and (d2 g_i/dy dy) q_i as they were.
  kWhole,
  /// grad d_i(y_i) - B_i y_i and (d2 d_i/dy dy) q_i - B_i q_i, where g_i = d_i + r with a common term r and
  /// B_i is the curvature block of d_i that the worker sent last: the master adds B_i y and B_i q where it is
  /// now, and r's part.
  kAffine,
};

/// Affine where there are a common term and curvature blocks. (Without blocks, r's part alone brought up to
/// date made runs worse.)
[[nodiscard]] ContributionForm contribution_form(const Problem& problem);

}  // namespace adbo::detail
