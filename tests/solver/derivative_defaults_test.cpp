// The finite-difference defaults of WorkerObjective, and check_derivatives().
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "adbo/adbo.h"

using namespace adbo;

namespace {

/// g(x, y) = sum_k exp(x_k y_k) + y_k^4 / 4, G(x, y) = sum_k x_k^2 y_k: everything known by hand. n = m.
class Smooth final : public WorkerObjective {
 public:
  double upper(std::span<const double> x, std::span<const double> y, std::span<double> grad_x,
               std::span<double> grad_y) override {
    double value = 0;
    for (std::size_t k = 0; k < y.size(); ++k) {
      value += x[k] * x[k] * y[k];
      grad_x[k] = 2 * x[k] * y[k] * (wrong_upper ? 1.001 : 1);
      grad_y[k] = x[k] * x[k];
    }
    return value;
  }
  double lower(std::span<const double> x, std::span<const double> y, std::span<double> grad_y) override {
    double value = 0;
    for (std::size_t k = 0; k < y.size(); ++k) {
      const double e = std::exp(x[k] * y[k]);
      value += e + std::pow(y[k], 4) / 4;
      grad_y[k] = x[k] * e + std::pow(y[k], 3);
    }
    return value;
  }
  bool wrong_upper = false;
};

}  // namespace

TEST_CASE("objective: the default products agree with the closed form") {
  Smooth smooth;
  const std::vector<double> x{0.3, -0.7, 1.1}, y{0.5, 1.5, -0.4}, u{1, -2, 0.5};
  std::vector<double> hessian(3), cross(3), gradient(3);
  smooth.lower_hessian_product(x, y, u, hessian);
  smooth.lower_cross_product(x, y, u, cross);
  for (std::size_t k = 0; k < 3; ++k) {
    const double e = std::exp(x[k] * y[k]);
    // Central differences with the optimal step: about eps^(2/3) = 4e-11, times third derivatives of
    // order 10.
    CHECK(hessian[k] == doctest::Approx((x[k] * x[k] * e + 3 * y[k] * y[k]) * u[k]).epsilon(1e-8));
    CHECK(cross[k] == doctest::Approx((1 + x[k] * y[k]) * e * u[k]).epsilon(1e-8));
  }
  std::vector<double> fused_gradient(3), fused_hessian(3), fused_cross(3);
  const double value = smooth.lower_fused(x, y, u, fused_gradient, fused_hessian, fused_cross);
  CHECK(value == smooth.lower(x, y, gradient));
  CHECK(fused_gradient == gradient);
  CHECK(fused_hessian == hessian);
  CHECK(fused_cross == cross);
  CHECK(smooth.lower_fused(x, y, u, {}, {}, fused_cross) == 0);
  const std::vector<double> zero(3, 0.0);
  smooth.lower_hessian_product(x, y, zero, hessian);
  CHECK(hessian == zero);
}

TEST_CASE("check_derivatives: passes what is right and names what is wrong") {
  Smooth smooth;
  const std::vector<double> x{0.3, -0.7, 1.1}, y{0.5, 1.5, -0.4};
  CHECK(check_derivatives(smooth, x, y, 5, 1).worst() < 1e-6);
  smooth.wrong_upper = true;
  const DerivativeCheck check = check_derivatives(smooth, x, y, 5, 1);
  CHECK(check.upper_grad_x > 5e-4);
  CHECK(check.upper_grad_y < 1e-6);
  CHECK(check.lower_grad_y < 1e-6);
}
