#pragma once

#include <vector>

#include "adbo/state_archive.h"
#include "methods/running_estimates/preconditioner.h"

namespace adbo::detail {

/// P = s D. D says how the curvature differs from coordinate to coordinate (all ones where the workers send
/// no diagonals), and s, which Hessian products teach, how large it is: the products of the adjoint's
/// estimate run through the directions that matter.
class DiagonalPreconditioner final : public Preconditioner {
 public:
  /// `size`: b of the workers' diagonals; 0: they send none.
  DiagonalPreconditioner(std::size_t size, std::size_t num_workers);

  void set_curvature(std::size_t worker, std::span<const double> curvature) override;
  void drop(std::size_t worker) override;
  void see_product(std::span<const double> u, std::span<const double> product) override;
  void refresh(double damping) override;
  [[nodiscard]] double mean_curvature() const override { return factor_ * mean_; }
  [[nodiscard]] double largest_curvature() override { return factor_ * largest_; }
  void solve(std::span<double> vector) const override;
  void solve_damped(std::span<double> vector) const override;
  void persist(StateArchive& archive) override {
    archive(diagonal_, changed_, factor_, mean_, largest_, damping_);
    archive.sized(diagonals_);
    for (const std::vector<double>& one : diagonals_) {
      archive.require(one.empty() || one.size() == diagonal_.size(), "a diagonal of another size");
    }
  }

 private:
  void divide(std::span<double> vector, double damping) const;

  std::vector<std::vector<double>> diagonals_;  ///< [N]; empty: not heard of
  std::vector<double> diagonal_;                ///< D, [b]; one entry where there are none
  bool changed_ = false;
  double factor_ = 0;              ///< s
  double mean_ = 1, largest_ = 1;  ///< of D
  double damping_ = 0;
};

}  // namespace adbo::detail
