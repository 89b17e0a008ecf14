#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "adbo/common_term.h"
#include "adbo/identity.h"
#include "adbo/objective.h"
#include "adbo/status.h"

namespace adbo {

/// Where a run starts. Empty vectors mean zeros; the per-worker lists are empty or have one entry per worker,
/// and a missing local start is the consensus start.
struct StartPoint {
  std::vector<double> upper;                     ///< v^0 and x_i^0, [n]
  std::vector<double> lower;                     ///< z^0, [m]
  std::vector<std::vector<double>> lower_local;  ///< y_i^0, [N][m]
  std::vector<double> consensus_dual;            ///< theta_i^0, the same for every worker, [n]
};

/// min over (x, y) of sum_i G_i(x, y), where y minimizes sum_i g_i(x, y).  (Eq. new_18 of the paper)
///
/// Owns the workers' objectives. Not thread-safe; a Problem serves one solve at a time.
class Problem {
 public:
  /// n = upper_dim >= 1, m = lower_dim >= 1.
  Problem(std::size_t upper_dim, std::size_t lower_dim);
  ~Problem();
  Problem(Problem&&) noexcept;
  Problem& operator=(Problem&&) noexcept;

  void add_worker(std::unique_ptr<WorkerObjective> objective);
  void set_start(StartPoint start) { start_ = std::move(start); }
  /// Every coordinate of the upper variable is kept in [lowest, highest] (default: unbounded).
  void set_upper_bounds(double lowest, double highest);
  /// Moves what is outside the bounds to the nearest one; `upper` [n].
  void keep_within_bounds(std::span<double> upper) const;

  /// Says that the lower objectives depend on x by this term alone; every worker's support is then all of x.
  void set_common_term(std::unique_ptr<CommonTerm> term) { common_term_ = std::move(term); }
  /// Null: none is known.
  [[nodiscard]] const CommonTerm* common_term() const { return common_term_.get(); }

  /// Says what the problem is made of, for example a checksum of its data: a checkpoint is gone on with only
  /// where every name has the value that it had. The solver reads nothing else into it.
  void add_identity(std::string name, std::string value) {
    identity_.emplace_back(std::move(name), std::move(value));
  }
  [[nodiscard]] const Identity& identity() const { return identity_; }

  /// kInvalidProblem when there is no worker, a support leaves [0, n) or, beside a common term, is not all of
  /// it, or a start has the wrong size.
  [[nodiscard]] Status validate() const;

  [[nodiscard]] std::size_t upper_dim() const { return upper_dim_; }
  [[nodiscard]] std::size_t lower_dim() const { return lower_dim_; }
  [[nodiscard]] std::size_t num_workers() const { return workers_.size(); }
  [[nodiscard]] WorkerObjective& worker(std::size_t i) const { return *workers_[i]; }
  [[nodiscard]] const UpperSupport& support(std::size_t i) const { return supports_[i]; }
  [[nodiscard]] const StartPoint& start() const { return start_; }
  [[nodiscard]] double upper_lowest() const { return upper_lowest_; }
  [[nodiscard]] double upper_highest() const { return upper_highest_; }

 private:
  std::size_t upper_dim_, lower_dim_;
  std::vector<std::unique_ptr<WorkerObjective>> workers_;
  std::vector<UpperSupport> supports_;
  std::unique_ptr<CommonTerm> common_term_;
  StartPoint start_;
  Identity identity_;
  double upper_lowest_ = -std::numeric_limits<double>::infinity();
  double upper_highest_ = std::numeric_limits<double>::infinity();
};

/// The largest disagreement between an objective's products and central differences of its own
/// values/gradients.
struct DerivativeCheck {
  double upper_grad_x = 0, upper_grad_y = 0, lower_grad_x = 0, lower_grad_y = 0;  ///< relative errors
  double hessian = 0, cross = 0;
  [[nodiscard]] double worst() const;
};
/// Compares along `directions` seeded random directions at the given point; x [support.size], y [m].
[[nodiscard]] DerivativeCheck check_derivatives(WorkerObjective& objective, std::span<const double> x,
                                                std::span<const double> y, int directions,
                                                std::uint64_t seed);

}  // namespace adbo
