#include "methods/running_estimates/upper_step.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace adbo::detail;

namespace {

/// d/dv of 1/2 sum_j scale_j (v_j - target_j)^2.
std::vector<double> gradient(const std::vector<double>& v, const std::vector<double>& scale,
                             const std::vector<double>& target) {
  std::vector<double> result(v.size());
  for (std::size_t j = 0; j < v.size(); ++j) result[j] = scale[j] * (v[j] - target[j]);
  return result;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t j = 0; j < a.size(); ++j) largest = std::max(largest, std::abs(a[j] - b[j]));
  return largest;
}

constexpr double kUnbounded = 1e300;

}  // namespace

TEST_CASE("upper step: scale-free: the same path whatever unit the objective has") {
  for (const UpperScaling scaling : {UpperScaling::kPerCoordinate, UpperScaling::kCommon}) {
    std::vector<double> small{0, 0}, large{0, 0};
    UpperStep step_small({scaling, 0.1, -kUnbounded, kUnbounded}, 2), step_large = step_small;
    for (int k = 0; k < 100; ++k) {
      step_small.move(gradient(small, {1, 3}, {1, -2}), {}, small);
      step_large.move(gradient(large, {1024, 3072}, {1, -2}), {}, large);
    }
    CHECK(small == large);  // 1024 is a power of two: the same roundings
  }
}

TEST_CASE("upper step: the first move is the rate, in each coordinate or on average") {
  std::vector<double> own{0, 0}, common{0, 0};
  UpperStep({UpperScaling::kPerCoordinate, 0.1, -kUnbounded, kUnbounded}, 2)
      .move(std::vector<double>{1, -100}, {}, own);
  UpperStep({UpperScaling::kCommon, 0.1, -kUnbounded, kUnbounded}, 2)
      .move(std::vector<double>{3, -4}, {}, common);
  const double rate = 0.1 / std::sqrt(1 + 1.0 / 30);
  CHECK(own[0] == doctest::Approx(-rate));
  CHECK(own[1] == doctest::Approx(rate));
  CHECK(common[0] == doctest::Approx(-rate * 3 / std::sqrt(12.5)));
  CHECK(common[1] == doctest::Approx(rate * 4 / std::sqrt(12.5)));
}

TEST_CASE("upper step: the tail converges where coordinates differ by a factor of 1000, and keeps bounds") {
  const std::vector<double> scale{1, 30, 1000}, target{1, -2, 3};
  std::vector<double> free{0, 0, 0}, bounded{0, 0, 0};
  UpperStep step_free({UpperScaling::kPerCoordinate, 0.2, -kUnbounded, kUnbounded}, 3);
  UpperStep step_bounded({UpperScaling::kPerCoordinate, 0.2, -1.5, 1.5}, 3);
  for (int k = 0; k < 400; ++k) {
    step_free.move(gradient(free, scale, target), {}, free);
    step_bounded.move(gradient(bounded, scale, target), {}, bounded);
  }
  CHECK(distance(free, target) < 1e-10);
  CHECK(distance(bounded, {1, -1.5, 1.5}) < 1e-10);
}

TEST_CASE("upper step: in the tail v waits until both residuals have fallen to a part of their peak") {
  std::vector<double> v{5};
  UpperStep step({UpperScaling::kPerCoordinate, 0.01, -kUnbounded, kUnbounded}, 1);
  const auto moves = [&](const EstimateLag& lag) {
    const double before = v[0];
    step.move(std::vector<double>{v[0]}, lag, v);
    return v[0] != before;
  };
  for (int k = 0; k < 150; ++k) REQUIRE(moves({.lower = 1, .adjoint = 1}));  // the descent does not wait
  REQUIRE_FALSE(moves({.lower = 1, .adjoint = 1, .mean_age = 2}));
  CHECK_FALSE(moves({.lower = 0.1, .adjoint = 0.1, .mean_age = 2}));  // not a whole round yet
  CHECK_FALSE(moves({.lower = 0.5, .adjoint = 0.1, .mean_age = 2}));
  CHECK_FALSE(moves({.lower = 0.1, .adjoint = 0.5, .mean_age = 2}));
  CHECK(moves({.lower = 0.1, .adjoint = 0.1, .mean_age = 2}));
  // A residual that never falls does not stop v for ever: 30 rounds of 3 iterations.
  int waited = 0;
  while (!moves({.lower = 1, .adjoint = 1, .mean_age = 2})) ++waited;
  CHECK(waited == 90);
}

TEST_CASE("upper step: a zero direction leaves v where it is, in both phases") {
  std::vector<double> v{1, 2};
  UpperStep step({UpperScaling::kPerCoordinate, 0.1, -kUnbounded, kUnbounded}, 2);
  for (int k = 0; k < 300; ++k) step.move(std::vector<double>{0, 0}, {}, v);
  CHECK(v == std::vector<double>{1, 2});
}
