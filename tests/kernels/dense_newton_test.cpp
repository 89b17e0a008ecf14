#include "adbo/kernels/dense_newton.h"

#include <doctest/doctest.h>

#include <cmath>
#include <span>
#include <vector>

using namespace adbo::kernels;

namespace {

using Vector = std::vector<double>;
using Span = std::span<double>;
using ConstSpan = std::span<const double>;

/// sum_k [ log(1 + e^-(a w_k)) + log(1 + e^(2 a w_k)) / 2 + d_k/2 w_k^2 + c w_0 w_k ], scaled as badly as
/// asked.
struct Scaled {
  Vector scale;  // of each variable

  double operator()(ConstSpan w, Span gradient, Span hessian) const {
    const std::size_t n = w.size();
    std::fill(hessian.begin(), hessian.end(), 0.0);
    double value = 0;
    for (std::size_t k = 0; k < n; ++k) {
      const double u = scale[k] * w[k], s = 1 / (1 + std::exp(-u));
      value += std::log1p(std::exp(-std::abs(u))) + std::max(u, 0.0) - 0.3 * u + 0.005 * u * u;
      gradient[k] = scale[k] * (s - 0.3 + 0.01 * u);
      hessian[k * (n + 1)] = scale[k] * scale[k] * (s * (1 - s) + 0.01);
    }
    return value;
  }
};

}  // namespace

TEST_CASE("dense Newton: variables of wildly different scales, and a far start") {
  const Scaled function{{1e-5, 1e-2, 1, 1e2, 1e5}};
  Vector w(5);
  for (std::size_t k = 0; k < 5; ++k) w[k] = 20 / function.scale[k];
  DenseNewton newton(5);
  const FitResult fit = newton.minimize(w, function, {.gradient_tolerance = 1e-9});
  CHECK(fit.status == FitStatus::kConverged);
  CHECK(fit.gradient_norm <= 1e-9);
  // The same minimum in every scaled variable; Newton's method does not see the scales.
  const double u = function.scale[2] * w[2];
  for (std::size_t k = 0; k < 5; ++k) CHECK(function.scale[k] * w[k] == doctest::Approx(u).epsilon(1e-4));
  CHECK(1 / (1 + std::exp(-u)) - 0.3 + 0.01 * u == doctest::Approx(0.0).epsilon(1e-8));
  CHECK(fit.evaluations < 40);

  // The factors are those at the minimum.
  REQUIRE(newton.is_factored());
  Vector gradient(5), hessian(25), right{1, 2, 3, 4, 5};
  function(w, gradient, hessian);
  newton.solve(right);
  for (std::size_t k = 0; k < 5; ++k) {
    CHECK(hessian[k * 6] * right[k] == doctest::Approx(static_cast<double>(k + 1)).epsilon(1e-9));
  }
}

TEST_CASE("dense Newton: what cannot be minimized is a status, and the best point is left") {
  const auto saddle = [](ConstSpan w, Span gradient, Span hessian) {
    gradient[0] = w[0];
    gradient[1] = -w[1];
    hessian[0] = 1;
    hessian[1] = hessian[2] = 0;
    hessian[3] = -1;
    return 0.5 * (w[0] * w[0] - w[1] * w[1]);
  };
  Vector w{1, 1};
  DenseNewton newton(2);
  const FitResult fit = newton.minimize(w, saddle, {});
  CHECK(fit.status == FitStatus::kStalled);
  CHECK_FALSE(newton.is_factored());
  CHECK(w == Vector{1, 1});

  const auto limited =
      newton.minimize(w, Scaled{{1, 100}}, {.gradient_tolerance = 1e-12, .max_evaluations = 2});
  CHECK((limited.status == FitStatus::kEvaluationLimit || limited.status == FitStatus::kStalled));
  CHECK(limited.evaluations == 2);

  const auto nowhere = [](ConstSpan, Span gradient, Span) {
    gradient[0] = gradient[1] = 0;
    return std::nan("");
  };
  CHECK(newton.minimize(w, nowhere, {}).status == FitStatus::kNotFinite);
}
