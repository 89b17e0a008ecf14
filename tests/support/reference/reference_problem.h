#pragma once
// Bilevel problems as plain functions on dense vectors and matrices, for the reference.

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace adbo::reference {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;
using Index = Eigen::Index;

/// One worker's objectives. x is the worker's part of the upper variable [size], y the lower variable [m].
struct Objective {
  using Value = std::function<double(const Vector& x, const Vector& y)>;
  using VectorField = std::function<Vector(const Vector& x, const Vector& y)>;
  using MatrixField = std::function<Matrix(const Vector& x, const Vector& y)>;

  Index begin = 0;  ///< the part of the upper variable is [begin, begin + size)
  Index size = 0;
  bool upper_uses_x = true;
  Value upper;                   ///< G_i
  VectorField upper_gradient_x;  ///< [size]; zeros where G_i does not depend on x
  VectorField upper_gradient_y;  ///< [m]
  Value lower;                   ///< g_i
  VectorField lower_gradient;    ///< grad_y g_i, [m]
  MatrixField lower_hessian;     ///< d grad_y g_i / dy, [m x m]
  MatrixField lower_cross;       ///< d grad_y g_i / dx, [m x size]
};

/// The problem, its start and its bounds; the conventions are those of adbo::Problem.
struct Problem {
  Index upper_dim = 0;  ///< n
  Index lower_dim = 0;  ///< m
  std::vector<Objective> workers;
  Vector upper_start;                ///< v^0, once it is moved into the bounds, and x_i^0, [n]
  Vector lower_start;                ///< z^0, [m]
  std::vector<Vector> local_starts;  ///< y_i^0, [N][m]; empty: z^0
  Vector dual_start;                 ///< theta_i^0, [n]
  double upper_lowest = -std::numeric_limits<double>::infinity();
  double upper_highest = std::numeric_limits<double>::infinity();

  [[nodiscard]] std::size_t num_workers() const { return workers.size(); }
};

/// g(x, y) = 1/2 y'H y - y'(B x + d),  G(x, y) = 1/2 ||y - t||^2 + rho/2 ||x - s||^2.
struct QuadraticData {
  Matrix hessian;  ///< H, [m x m], symmetric
  Matrix mixing;   ///< B, [m x size]
  Vector shift;    ///< d, [m]
  Vector target;   ///< t, [m]
  Vector anchor;   ///< s, [size]
  double rho = 0;  ///< 0: G does not depend on x
  Index begin = 0;
};
[[nodiscard]] Objective quadratic_objective(const QuadraticData& data);

/// Rows with labels, in double (the product keeps the same numbers as float32).
struct Sample {
  Matrix features;  ///< [rows x cols]
  std::vector<std::int32_t> labels;
};

/// Logistic regression with labels 0 / 1 read as -1 / +1:
/// G(w) = mean validation loss;  g(psi, w) = mean training loss + factor sum_j exp(psi_j) w_j^2.
[[nodiscard]] Objective logistic_tuning_objective(const Sample& train, const Sample& validation,
                                                  double factor);

/// Softmax regression, y[c * cols + k] of class c and feature k:
/// G(y) = mean validation CE;  g(psi, y) = mean over training rows of sigmoid(psi_j) CE_j(y), + ridge
/// ||y||^2, psi being coordinates [begin, begin + rows) of the upper variable.
[[nodiscard]] Objective hyper_cleaning_objective(const Sample& train, const Sample& validation, int classes,
                                                 double ridge, Index begin);

}  // namespace adbo::reference
