#include "methods/async_hypergradient/inverse_secants.h"

#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <random>
#include <vector>

using adbo::detail::InverseSecants;

namespace {

std::vector<double> draw(std::mt19937_64& random, std::size_t size) {
  std::normal_distribution<double> normal;
  std::vector<double> values(size);
  for (double& value : values) value = normal(random);
  return values;
}

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
    "inverse secants: the same as the inverse BFGS formula of the latest pairs, on any set of coordinates") {
  constexpr std::size_t kDim = 6, kMemory = 4;
  std::mt19937_64 random(3);
  const Eigen::MatrixXd root = Eigen::Map<Eigen::MatrixXd>(draw(random, kDim * kDim).data(), kDim, kDim);
  const Eigen::MatrixXd hessian = root * root.transpose() + Eigen::MatrixXd::Identity(kDim, kDim);
  InverseSecants secants(kDim, kMemory);
  std::vector<Eigen::VectorXd> points, gradients;
  for (int k = 0; k < 8; ++k) {
    const std::vector<double> point = draw(random, kDim);
    points.emplace_back(Eigen::Map<const Eigen::VectorXd>(point.data(), kDim));
    gradients.emplace_back(hessian * points.back());
    const std::vector<double> gradient(gradients.back().begin(), gradients.back().end());
    CHECK(secants.see(point, gradient) == (k > 0));
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
    secants.apply(free, vector);
    for (std::size_t j = 0; j < kDim; ++j) {
      CHECK(vector[j] == doctest::Approx(expected[static_cast<Eigen::Index>(j)]).epsilon(1e-9));
    }
  }
}

TEST_CASE("inverse secants: pairs without curvature are left out, and nothing is known without pairs") {
  InverseSecants secants(2, 3);
  std::vector<double> vector{1, 2};
  secants.apply(std::vector<std::uint8_t>{1, 1}, vector);
  CHECK(vector == std::vector<double>{1, 2});
  CHECK_FALSE(secants.see(std::vector<double>{0, 0}, std::vector<double>{1, 1}));
  CHECK_FALSE(secants.see(std::vector<double>{1, 0}, std::vector<double>{0, 1}));  // concave along the step
  CHECK_FALSE(secants.see(std::vector<double>{2, 0}, std::vector<double>{0, 9}));  // orthogonal
  CHECK(secants.empty());
  CHECK(secants.see(std::vector<double>{3, 0}, std::vector<double>{4, 9}));
  CHECK_FALSE(secants.empty());
  secants.apply(std::vector<std::uint8_t>{1, 1}, vector);
  CHECK(vector[0] == doctest::Approx(0.25));
}
