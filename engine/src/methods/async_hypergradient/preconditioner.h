#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "adbo/problem.h"

namespace adbo::detail {

/// Solves with the mean of the workers' curvature blocks, (1/N) sum_i B_i [b x b], applied to each of the m / b pieces of
/// a vector. Where the objectives give no curvature it is a multiple of the identity, estimated from what Hessian
/// products show.
class Preconditioner {
 public:
  explicit Preconditioner(const Problem& problem);
  ~Preconditioner();
  Preconditioner(const Preconditioner&) = delete;
  Preconditioner& operator=(const Preconditioner&) = delete;

  [[nodiscard]] bool has_blocks() const { return block_size_ > 0; }
  /// Worker `worker`'s newest block; takes effect at the next refresh().
  void set_block(std::size_t worker, std::span<const double> block);
  /// Sums and factors the blocks again where any changed.
  void refresh();
  /// Without blocks: a Hessian product u -> Hu was seen; the largest Rayleigh quotient bounds the step.
  void see_product(std::span<const double> u, std::span<const double> product);
  /// vector [m] <- P^-1 vector.
  void solve_in_place(std::span<double> vector) const;
  /// vector [m] <- (P + damping mean_curvature I)^-1 vector.
  void solve_damped_in_place(std::span<double> vector) const;
  [[nodiscard]] double mean_curvature() const;
  void set_damping(double d) { damping_ = d; }

 private:
  struct Factor;
  std::size_t block_size_, num_workers_;
  std::vector<std::vector<double>> blocks_;
  std::unique_ptr<Factor> factor_;
  bool changed_ = false;
  double curvature_ = 0, damping_ = 0, mean_curvature_ = 0;
};

}  // namespace adbo::detail
