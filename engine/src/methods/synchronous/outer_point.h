#pragma once

#include <vector>

#include "adbo/problem.h"
#include "adbo/state_archive.h"

namespace adbo::detail {

/// An upper variable with everything known about it.
struct OuterPoint {
  explicit OuterPoint(const Problem& problem)
      : upper(problem.upper_dim()),
        gradient(problem.upper_dim()),
        lower(problem.lower_dim()),
        adjoint(problem.lower_dim()) {}

  void persist(StateArchive& archive) { archive(upper, gradient, lower, adjoint, value, lower_value); }

  std::vector<double> upper;     ///< v, [n]
  std::vector<double> gradient;  ///< dF/dv or its estimate, [n]
  std::vector<double> lower;     ///< y*(v) or what stands for it, [m]; before: where to start from
  std::vector<double> adjoint;   ///< q, [m]; before: where to start from
  double value = 0;              ///< (1/N) sum_i G_i(v, y)
  double lower_value = 0;        ///< (1/N) sum_i g_i(v, y)
};

}  // namespace adbo::detail
