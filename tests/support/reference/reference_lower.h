#pragma once
// The lower rounds (97_35 to 97_37), h, and dh/dv, each written down as docs/method.md states it. The
// derivative is forward mode: the Jacobians of all y', z', phi with respect to v are carried along, so that
// it shares nothing with a reverse sweep.

#include <vector>

#include "adbo/options.h"
#include "support/reference/reference_problem.h"

namespace adbo::reference {

/// Step sizes, penalty and orders of the lower rounds: the members of the same names of adbo::Options.
struct LowerSettings {
  std::int64_t rounds = 1;    ///< K
  double step_local = 0;      ///< eta_y
  double step_consensus = 0;  ///< eta_z
  double step_dual = 0;       ///< eta_phi
  double penalty = 1;         ///< mu
  LowerRoundOrder order = LowerRoundOrder::kPaper;
};

/// ({y'_i}, z', {phi_i}) after some round.
struct RoundState {
  std::vector<Vector> local;  ///< y'_i, [N][m]
  Vector consensus;           ///< z', [m]
  std::vector<Vector> dual;   ///< phi_i, [N][m]
};

/// All states, [K + 1], the start first.
using Rounds = std::vector<RoundState>;

/// The part of v that worker's objectives see.
[[nodiscard]] Vector support_of(const Objective& worker, const Vector& v);

[[nodiscard]] Rounds run_lower_rounds(const Problem& problem, const LowerSettings& settings, const Vector& v,
                                      const std::vector<Vector>& local_start, const Vector& consensus_start);

/// h = sum_i ||y_i - y'_iK||^2 + ||z - z'_K||^2.
[[nodiscard]] double lower_distance(const Rounds& rounds, const std::vector<Vector>& y, const Vector& z);

/// dh/dv, [n], for rounds made at this v. kExact asks for the paper's order of updates.
[[nodiscard]] Vector lower_distance_gradient(const Problem& problem, const LowerSettings& settings,
                                             CutGradient kind, const Rounds& rounds, const Vector& v,
                                             const std::vector<Vector>& y, const Vector& z);

}  // namespace adbo::reference
