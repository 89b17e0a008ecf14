#pragma once
// A bilevel problem whose lower objectives have a regularizer in common, and what it is known to give.

#include <Eigen/Core>
#include <Eigen/LU>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "adbo/adbo.h"

namespace adbo::test {

/// r = 1/2 sum_k exp(x_k) y_k^2.
class RidgeTerm final : public CommonTerm {
 public:
  void gradient(std::span<const double> x, std::span<const double> y, std::span<double> out) override {
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = std::exp(x[k]) * y[k];
  }
  void curvature(std::span<const double> x, std::span<const double>, std::span<double> out) override {
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = std::exp(x[k]);
  }
  void cross_product(std::span<const double> x, std::span<const double> y, std::span<const double> u,
                     std::span<double> out) override {
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = std::exp(x[k]) * y[k] * u[k];
  }
  [[nodiscard]] std::unique_ptr<CommonTerm> clone() const override {
    return std::make_unique<RidgeTerm>(*this);
  }
};

/// What worker i tells of its curvature.
enum class Told { kBlock, kDiagonal, kNothing };

/// g_i = 1/2 y'A_i y - b_i'y + r(x, y), A_i positive definite; G_i = 1/2 ||y - c_i||^2 + 1/20 ||x||^2.
class RidgeWorker : public WorkerObjective {
 public:
  RidgeWorker(std::size_t dim, std::uint64_t seed, Told told) : told_(told) {
    RandomStream random(seed, 0);
    const auto m = static_cast<Eigen::Index>(dim);
    const auto draw = [&random] { return random.normal(); };
    const Eigen::MatrixXd root = Eigen::MatrixXd::NullaryExpr(m, m, draw);
    matrix = root * root.transpose() / static_cast<double>(m) + 0.5 * Eigen::MatrixXd::Identity(m, m);
    pull = Eigen::VectorXd::NullaryExpr(m, draw);
    target = Eigen::VectorXd::NullaryExpr(m, draw);
  }
  double upper(std::span<const double> x, std::span<const double> y, std::span<double> grad_x,
               std::span<double> grad_y) override {
    double value = 0;
    for (std::size_t k = 0; k < y.size(); ++k) {
      grad_y[k] = y[k] - target[static_cast<Eigen::Index>(k)];
      grad_x[k] = x[k] / 10;
      value += grad_y[k] * grad_y[k] / 2 + x[k] * x[k] / 20;
    }
    return value;
  }
  double lower(std::span<const double> x, std::span<const double> y, std::span<double> grad_y) override {
    const Eigen::Map<const Eigen::VectorXd> point(y.data(), matrix.rows());
    const Eigen::VectorXd product = matrix * point;
    double value = point.dot(product) / 2 - pull.dot(point);
    for (std::size_t k = 0; k < y.size(); ++k) {
      const auto row = static_cast<Eigen::Index>(k);
      grad_y[k] = product[row] - pull[row] + std::exp(x[k]) * y[k];
      value += std::exp(x[k]) * y[k] * y[k] / 2;
    }
    return value;
  }
  void lower_hessian_product(std::span<const double> x, std::span<const double>, std::span<const double> u,
                             std::span<double> out) override {
    const Eigen::Map<const Eigen::VectorXd> direction(u.data(), matrix.rows());
    const Eigen::VectorXd product = matrix * direction;
    for (std::size_t k = 0; k < u.size(); ++k) {
      out[k] = product[static_cast<Eigen::Index>(k)] + std::exp(x[k]) * u[k];
    }
  }
  void lower_cross_product(std::span<const double> x, std::span<const double> y, std::span<const double> u,
                           std::span<double> out) override {
    RidgeTerm().cross_product(x, y, u, out);
  }
  [[nodiscard]] std::size_t lower_curvature_size() const override {
    return told_ == Told::kBlock ? static_cast<std::size_t>(matrix.rows()) : 0;
  }
  void lower_curvature(std::span<const double> x, std::span<const double>, std::span<double> block) override {
    Eigen::Map<Eigen::MatrixXd> out(block.data(), matrix.rows(), matrix.cols());
    out = matrix;
    for (std::size_t k = 0; k < x.size(); ++k) block[k * (x.size() + 1)] += std::exp(x[k]);
  }
  [[nodiscard]] std::size_t lower_curvature_diagonal_size() const override {
    return told_ == Told::kDiagonal ? static_cast<std::size_t>(matrix.rows()) : 0;
  }
  void lower_curvature_diagonal(std::span<const double> x, std::span<const double>,
                                std::span<double> diagonal) override {
    for (std::size_t k = 0; k < x.size(); ++k) {
      diagonal[k] = matrix(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(k)) + std::exp(x[k]);
    }
  }

  Eigen::MatrixXd matrix;        ///< A_i
  Eigen::VectorXd pull, target;  ///< b_i, c_i

 private:
  Told told_;
};

inline Problem make_shared_ridge(std::size_t dim, std::size_t workers, Told told) {
  Problem problem(dim, dim);
  for (std::size_t i = 0; i < workers; ++i) {
    problem.add_worker(std::make_unique<RidgeWorker>(dim, 11 + i, told));
  }
  problem.set_common_term(std::make_unique<RidgeTerm>());
  return problem;
}

/// The mean over the workers of d/dx G_i(x, y*(x)), by dense linear algebra.
inline Eigen::VectorXd shared_ridge_hypergradient(const Problem& problem, const std::vector<double>& upper) {
  const auto m = static_cast<Eigen::Index>(problem.lower_dim());
  const double share = 1 / static_cast<double>(problem.num_workers());
  const Eigen::Map<const Eigen::VectorXd> x(upper.data(), m);
  const Eigen::VectorXd ridge = x.array().exp();
  Eigen::MatrixXd hessian = ridge.asDiagonal();
  Eigen::VectorXd pull = Eigen::VectorXd::Zero(m), target = Eigen::VectorXd::Zero(m);
  for (std::size_t i = 0; i < problem.num_workers(); ++i) {
    const auto& worker = dynamic_cast<const RidgeWorker&>(problem.worker(i));
    hessian += share * worker.matrix;
    pull += share * worker.pull;
    target += share * worker.target;
  }
  const Eigen::VectorXd y = hessian.lu().solve(pull), q = hessian.lu().solve(y - target);
  return x / 10 - (ridge.array() * y.array() * q.array()).matrix();
}

}  // namespace adbo::test
