#pragma once

#include <memory>
#include <vector>

#include "adbo/state_archive.h"
#include "methods/running_estimates/preconditioner.h"

namespace adbo::detail {

/// P from blocks that all pieces of a vector share, by Cholesky factors.
class BlockPreconditioner final : public Preconditioner {
 public:
  BlockPreconditioner(std::size_t block_size, std::size_t num_workers);
  ~BlockPreconditioner() override;
  BlockPreconditioner(const BlockPreconditioner&) = delete;
  BlockPreconditioner& operator=(const BlockPreconditioner&) = delete;

  void set_curvature(std::size_t worker, std::span<const double> curvature) override;
  void set_common_curvature(std::span<const double> diagonal) override;
  void drop(std::size_t worker) override;
  /// Blocks say more than products.
  void see_product(std::span<const double>, std::span<const double>) override {}
  void refresh(double damping) override;
  [[nodiscard]] double mean_curvature() const override { return mean_curvature_; }
  [[nodiscard]] double largest_curvature() override;
  void solve(std::span<double> vector) const override;
  void solve_damped(std::span<double> vector) const override;
  void add_mean_block_product(std::span<const double> vector, std::span<double> out) const override;
  void persist(StateArchive& archive) override;

 private:
  [[nodiscard]] bool has_blocks() const;  ///< whether there is a mean of them
  void sum_blocks();
  void factor_sum();
  void factor_damped();
  void find_largest();
  [[nodiscard]] bool is_damped() const { return damping_ > 0; }

  struct Factors;
  std::size_t block_size_;
  std::vector<std::vector<double>> blocks_;  ///< [N]; empty: not heard of
  std::unique_ptr<Factors> factors_;
  bool changed_ = false;
  std::vector<double> common_;  ///< curvature that the blocks leave out, as P has it, [b]
  bool common_changed_ = false;
  double mean_curvature_ = 0;
  double largest_ = 0;  ///< of the blocks when it was last asked for
  bool largest_is_old_ = false;
  double damping_ = 0;  ///< as factored
};

}  // namespace adbo::detail
