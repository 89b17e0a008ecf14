#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace adbo::detail {

/// Solves  min over x >= 0 of 1/2 x'(Q + D) x - r'x  for a few unknowns: the multipliers of the cuts
/// (docs/practical-cuts.md). Q [k x k] is a Gram matrix: symmetric, positive semidefinite, of any rank and
/// scale. D = regularization * diag(Q) makes the solution unique and keeps it bounded where cuts contradict
/// each other.
///
/// A primal active-set method (Lawson and Hanson 1974, in terms of the Gram matrix) on the problem scaled to
/// a unit diagonal, begun at the last solution: finite, each step decreases the objective. No allocation
/// after construction.
class NonnegativeQp {
 public:
  /// `capacity`: the most unknowns. `regularization` > 0, relative.
  NonnegativeQp(std::size_t capacity, double regularization);

  /// `gram` [size * size], row by row; `linear` is r [size]. `solution` [size] is the start (negative entries
  /// count as zero) and becomes the solution: exactly zero where inactive. An unknown whose diagonal entry is
  /// zero stays zero.
  /// Returns the largest violation of the optimality conditions (x >= 0, w = r - (Q + D) x <= 0, x w = 0) in
  /// the scaled problem, relative to max |r| + max_k sum_l |Q_kl x_l|: at most kTolerance unless the input is
  /// not finite or not positive semidefinite.
  double solve(std::span<const double> gram, std::span<const double> linear, std::span<double> solution);

  static constexpr double kTolerance = 1e-10;

 private:
  void scale(std::span<const double> gram, std::span<const double> linear, std::span<const double> start);
  bool settle_passive();
  bool minimize_on_passive();
  [[nodiscard]] double slope(std::size_t k) const;
  [[nodiscard]] double magnitude() const;
  [[nodiscard]] double violation() const;
  [[nodiscard]] double entry(std::size_t k, std::size_t l) const { return gram_[k * size_ + l]; }

  double regularization_;
  std::size_t size_ = 0;
  std::vector<double> gram_, linear_, scale_;  ///< of the scaled problem; scale_ = diag(Q)^(-1/2)
  std::vector<double> x_, candidate_, factor_;
  std::vector<std::size_t> passive_;  ///< the unknowns that may be positive, in order of entry
  std::vector<char> is_passive_, is_barred_;
};

}  // namespace adbo::detail
