#pragma once

#include "adbo/state_archive.h"

namespace adbo::detail {

/// How far the running estimates are behind the upper variable.
struct EstimateLag {
  double lower = 0;     ///< norm of the mean lower gradient over the table
  double adjoint = 0;   ///< norm of the adjoint equation's residual
  double mean_age = 0;  ///< iterations since the table's contributions were asked for

  void persist(StateArchive& archive) { archive(lower, adjoint, mean_age); }
};

}  // namespace adbo::detail
