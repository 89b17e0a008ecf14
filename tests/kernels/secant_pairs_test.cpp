#include "adbo/kernels/secant_pairs.h"

#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <random>
#include <vector>

using adbo::kernels::SecantPairs;

namespace {

std::vector<double> draw(std::mt19937_64& random, std::size_t size) {
  std::normal_distribution<double> normal;
  std::vector<double> values(size);
  for (double& value : values) value = normal(random);
  return values;
}

std::vector<double> plain(const Eigen::VectorXd& v) { return {v.begin(), v.end()}; }

/// The inverse BFGS formula written out, H0 = (s.w / w.w of the newest pair) I.
Eigen::MatrixXd inverse_bfgs(const std::vector<Eigen::VectorXd>& steps,
                             const std::vector<Eigen::VectorXd>& changes) {
  const Eigen::Index n = steps.front().size();
  const Eigen::VectorXd &s = steps.back(), &w = changes.back();
  Eigen::MatrixXd h = Eigen::MatrixXd::Identity(n, n) * (s.dot(w) / w.dot(w));
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const double rho = 1 / steps[k].dot(changes[k]);
    const Eigen::MatrixXd left = Eigen::MatrixXd::Identity(n, n) - rho * steps[k] * changes[k].transpose();
    h = left * h * left.transpose() + rho * steps[k] * steps[k].transpose();
  }
  return h;
}

}  // namespace

TEST_CASE(
    "secant pairs: the same as the inverse BFGS formula of the latest pairs, on any set of coordinates") {
  constexpr std::size_t kDim = 6, kMemory = 4;
  std::mt19937_64 random(3);
  const Eigen::MatrixXd root = Eigen::Map<Eigen::MatrixXd>(draw(random, kDim * kDim).data(), kDim, kDim);
  const Eigen::MatrixXd hessian = root * root.transpose() + Eigen::MatrixXd::Identity(kDim, kDim);
  SecantPairs secants(kDim, kMemory, 1e-3);
  std::vector<Eigen::VectorXd> points, gradients;
  for (int k = 0; k < 8; ++k) {
    const std::vector<double> point = draw(random, kDim);
    points.emplace_back(Eigen::Map<const Eigen::VectorXd>(point.data(), kDim));
    gradients.emplace_back(hessian * points.back());
    if (k > 0) {
      const auto before = static_cast<std::size_t>(k - 1);
      CHECK(secants.remember(plain(points[before]), plain(gradients[before]), plain(points.back()),
                             plain(gradients.back())));
    }
  }
  for (const std::vector<std::uint8_t>& free :
       {std::vector<std::uint8_t>{1, 1, 1, 1, 1, 1}, std::vector<std::uint8_t>{1, 0, 1, 1, 0, 1}}) {
    std::vector<Eigen::VectorXd> steps, changes;
    const auto masked = [&free](Eigen::VectorXd v) {
      for (std::size_t j = 0; j < free.size(); ++j) v[static_cast<Eigen::Index>(j)] *= free[j];
      return v;
    };
    for (std::size_t k = 8 - kMemory; k < 8; ++k) {
      steps.push_back(masked(points[k] - points[k - 1]));
      changes.push_back(masked(gradients[k] - gradients[k - 1]));
      if (steps.back().dot(changes.back()) <= 0) {
        steps.pop_back();
        changes.pop_back();
      }
    }
    std::vector<double> vector = draw(random, kDim);
    const Eigen::VectorXd expected =
        inverse_bfgs(steps, changes) * masked(Eigen::Map<Eigen::VectorXd>(vector.data(), kDim));
    const std::vector<double> before = vector;
    secants.apply(vector, free);
    for (std::size_t j = 0; j < kDim; ++j) {
      if (free[j] == 0) {
        CHECK(vector[j] == before[j]);
        continue;
      }
      CHECK(vector[j] == doctest::Approx(expected[static_cast<Eigen::Index>(j)]).epsilon(1e-9));
    }
  }
}

TEST_CASE("secant pairs: pairs without curvature are left out and cost no older pair") {
  const std::vector<double> zero{0, 0}, right{1, 0};
  SecantPairs secants(2, 1, 1e-3);
  std::vector<double> vector{1, 2};
  secants.apply(vector);
  CHECK(vector == std::vector<double>{1, 2});
  CHECK_FALSE(secants.remember(zero, zero, right, std::vector<double>{-1, 0}));  // concave along the step
  CHECK_FALSE(secants.remember(zero, zero, right, std::vector<double>{0, 9}));   // orthogonal
  CHECK_FALSE(secants.remember(zero, zero, zero, zero));
  CHECK(secants.empty());
  CHECK(secants.remember(zero, zero, right, std::vector<double>{4, 0}));
  CHECK_FALSE(secants.remember(zero, zero, right, std::vector<double>{-1, 0}));
  CHECK_FALSE(secants.empty());
  secants.apply(vector);
  CHECK(vector[0] == doctest::Approx(0.25));
  secants.clear();
  CHECK(secants.empty());
}

TEST_CASE("secant pairs: coordinates that are not free stay as they are") {
  SecantPairs secants(2, 3, 1e-3);
  CHECK(secants.remember(std::vector<double>{0, 0}, std::vector<double>{0, 0}, std::vector<double>{1, 1},
                         std::vector<double>{2, 8}));
  std::vector<double> vector{6, 5};
  secants.apply(vector, std::vector<std::uint8_t>{1, 0});
  CHECK(vector[0] == doctest::Approx(3));
  CHECK(vector[1] == 5);
}

TEST_CASE("secant pairs: with a metric they are the pairs of variables that are scaled by its root") {
  const std::vector<double> zero{0, 0, 0}, metric{4, 0.25, 9}, root{2, 0.5, 3};
  const std::vector<double> step{1, 2, -1}, change{3, 1, -2};
  SecantPairs secants(3, 4, 1e-3), scaled(3, 4, 1e-3);
  std::vector<double> vector{1, -2, 0.5};
  secants.apply(vector, {}, metric);
  CHECK(vector == std::vector<double>{4, -0.5, 4.5});  // no pairs: the metric itself

  std::vector<double> scaled_step(3), scaled_change(3), expected(3);
  for (std::size_t j = 0; j < 3; ++j) {
    scaled_step[j] = step[j] / root[j];
    scaled_change[j] = change[j] * root[j];
    expected[j] = vector[j] * root[j];
  }
  REQUIRE(secants.remember(zero, zero, step, change));
  REQUIRE(scaled.remember(zero, zero, scaled_step, scaled_change));
  for (const std::vector<std::uint8_t>& free :
       {std::vector<std::uint8_t>{}, std::vector<std::uint8_t>{1, 0, 1}}) {
    std::vector<double> direction = vector, scaled_direction = expected;
    secants.apply(direction, free, metric);
    scaled.apply(scaled_direction, free);
    for (std::size_t j = 0; j < 3; ++j) {
      const bool stays = !free.empty() && free[j] == 0;
      CHECK(direction[j] == doctest::Approx(stays ? vector[j] : root[j] * scaled_direction[j]));
    }
  }
}
