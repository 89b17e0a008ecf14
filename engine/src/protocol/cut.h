#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "adbo/state_archive.h"

namespace adbo::detail {

/// One cutting plane  a.v + sum_i b_i.y_i + c.z + kappa <= 0. An implicit one lies in what y_i and z are
/// apart from y-hat: sum_i b_i.(y_i - y-hat) + c.(z - y-hat) + kappa <= 0; its a is what v answers for.
/// Written while it is built (worker i writes its own block), immutable once a published snapshot carries it.
struct Cut {
  Cut(std::size_t upper_dim, std::size_t lower_dim, std::size_t num_workers)
      : upper(upper_dim),
        lower_local(num_workers, std::vector<double>(lower_dim)),
        lower_consensus(lower_dim) {}

  std::int64_t serial = -1;                      ///< 0, 1, 2, ... in order of birth; never used twice
  std::vector<double> upper;                     ///< a, [n]
  std::vector<std::vector<double>> lower_local;  ///< b_i, [N][m]
  std::vector<double> lower_consensus;           ///< c, [m]
  double offset = 0;                             ///< kappa

  void persist(StateArchive& archive) { archive(serial, upper, lower_local, lower_consensus, offset); }

  int pins = 0;  ///< snapshots and the polytope that hold it; the master's alone
};

}  // namespace adbo::detail
