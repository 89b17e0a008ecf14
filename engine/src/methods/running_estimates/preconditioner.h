#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "adbo/problem.h"

namespace adbo::detail {

/// Solves with P, the mean of the workers' curvature blocks (1/N) sum_i B_i [b x b] on each of the m / b
/// pieces of a vector, or with P + damping I. Where the objectives give no blocks, P is a multiple of the
/// identity: twice the largest ||Hu|| / ||u|| that a Hessian product has shown.
class Preconditioner {
 public:
  explicit Preconditioner(const Problem& problem);
  ~Preconditioner();
  Preconditioner(const Preconditioner&) = delete;
  Preconditioner& operator=(const Preconditioner&) = delete;

  /// Worker `worker`'s newest block; takes effect at the next refresh().
  void set_block(std::size_t worker, std::span<const double> block);
  /// Without blocks: product = Hu was seen.
  void see_product(std::span<const double> u, std::span<const double> product);
  /// Sums and factors the blocks again where any changed. P + damping I may be factored with a damping that
  /// is off by a tenth: the solves only precondition.
  void refresh(double damping);

  /// False before anything is known of the curvature: solving then leaves vectors as they are.
  [[nodiscard]] bool is_known() const { return mean_curvature_ > 0; }
  /// P's mean eigenvalue.
  [[nodiscard]] double mean_curvature() const { return mean_curvature_; }
  /// An estimate of P's largest eigenvalue; 0 before anything is known.
  [[nodiscard]] double largest_curvature();
  /// vector [m] <- P^-1 vector.
  void solve(std::span<double> vector) const;
  /// vector [m] <- (P + damping I)^-1 vector.
  void solve_damped(std::span<double> vector) const;

 private:
  void sum_blocks();
  void find_largest();
  [[nodiscard]] bool is_damped() const { return damping_ > 0; }

  struct Factors;
  std::size_t block_size_, num_workers_;
  std::vector<std::vector<double>> blocks_;
  std::unique_ptr<Factors> factors_;
  bool changed_ = false;
  double mean_curvature_ = 0;
  double largest_ = 0;  ///< of the blocks when it was last asked for
  bool largest_is_old_ = false;
  double damping_ = 0;  ///< as factored
};

}  // namespace adbo::detail
