#pragma once
// The smallest lower level with a curvature: a multiple of the identity.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>

#include "adbo/adbo.h"

namespace adbo::test {

/// g = h/2 ||y||^2 - sum_k y_k x_(k mod n),  G = 1/2 ||y - t||^2 + c/2 ||x - s||^2: y* = Ex / h with E the
/// repetition, dF/dx = E'(Ex / h - t) / h + c (x - s).
class ScaledIdentity final : public WorkerObjective {
 public:
  ScaledIdentity(double curvature, double target, double upper_weight = 0, bool gives_curvature = false)
      : curvature_(curvature),
        target_(target),
        upper_weight_(upper_weight),
        gives_curvature_(gives_curvature) {}

  double upper(std::span<const double> x, std::span<const double> y, std::span<double> grad_x,
               std::span<double> grad_y) override {
    double value = 0;
    for (std::size_t k = 0; k < y.size(); ++k) {
      grad_y[k] = y[k] - target_;
      value += 0.5 * grad_y[k] * grad_y[k];
    }
    for (std::size_t j = 0; j < grad_x.size(); ++j) {
      grad_x[j] = upper_weight_ * (x[j] - 1);
      value += 0.5 * upper_weight_ * (x[j] - 1) * (x[j] - 1);
    }
    return value;
  }
  double lower(std::span<const double> x, std::span<const double> y, std::span<double> grad_y) override {
    double value = 0;
    for (std::size_t k = 0; k < y.size(); ++k) {
      value += y[k] * (0.5 * curvature_ * y[k] - x[k % x.size()]);
      grad_y[k] = curvature_ * y[k] - x[k % x.size()];
    }
    return value;
  }
  void lower_hessian_product(std::span<const double>, std::span<const double>, std::span<const double> u,
                             std::span<double> out) override {
    for (std::size_t k = 0; k < u.size(); ++k) out[k] = curvature_ * u[k];
  }
  void lower_cross_product(std::span<const double> x, std::span<const double>, std::span<const double> u,
                           std::span<double> out) override {
    std::fill(out.begin(), out.end(), 0.0);
    for (std::size_t k = 0; k < u.size(); ++k) out[k % x.size()] -= u[k];
  }
  [[nodiscard]] std::size_t lower_curvature_size() const override { return gives_curvature_ ? kSize : 0; }
  void lower_curvature(std::span<const double>, std::span<const double>, std::span<double> block) override {
    std::fill(block.begin(), block.end(), 0.0);
    for (std::size_t k = 0; k < kSize; ++k) block[k * (kSize + 1)] = curvature_;
  }
  [[nodiscard]] bool upper_depends_on_x() const override { return upper_weight_ > 0; }

  static constexpr std::size_t kSize = 7;  // m where curvature is given

 private:
  double curvature_, target_, upper_weight_;
  bool gives_curvature_;
};

/// One worker of it.
inline Problem scaled_identity(std::size_t n, std::size_t m, double curvature, double target,
                               double upper_weight = 0, bool gives_curvature = false) {
  Problem problem(n, m);
  problem.add_worker(std::make_unique<ScaledIdentity>(curvature, target, upper_weight, gives_curvature));
  return problem;
}

}  // namespace adbo::test
