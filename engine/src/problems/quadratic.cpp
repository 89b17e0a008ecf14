#include "adbo/problems/quadratic.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "adbo/random.h"

namespace adbo {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;
using ConstView = Eigen::Map<const Vector>;
using View = Eigen::Map<Vector>;

ConstView view(std::span<const double> values) {
  return {values.data(), static_cast<Eigen::Index>(values.size())};
}
View view(std::span<double> values) { return {values.data(), static_cast<Eigen::Index>(values.size())}; }

/// rho of G_i.
constexpr double kUpperCurvature = 0.1;

/// One worker's data: H_i [m x m], B_i [m x support], d_i, t_i [m], s_i [support].
struct QuadraticWorker {
  UpperSupport support;
  Matrix hessian;
  Matrix coupling;
  Vector offset;
  Vector lower_target;
  Vector upper_target;
  double upper_curvature = 0;  // rho, or 0 without a term in x
};

class QuadraticObjective final : public WorkerObjective {
 public:
  explicit QuadraticObjective(QuadraticWorker worker)
      : worker_(std::move(worker)), product_(worker_.offset.size()) {}

  double upper(std::span<const double> x, std::span<const double> y, std::span<double> grad_x,
               std::span<double> grad_y) override {
    view(grad_y) = view(y) - worker_.lower_target;
    double value = 0.5 * view(grad_y).squaredNorm();
    if (upper_depends_on_x()) {
      view(grad_x) = view(x) - worker_.upper_target;
      value += 0.5 * worker_.upper_curvature * view(grad_x).squaredNorm();
      view(grad_x) *= worker_.upper_curvature;
    }
    return value;
  }

  double lower(std::span<const double> x, std::span<const double> y, std::span<double> grad_y) override {
    product_.noalias() = worker_.hessian * view(y);
    View linear = view(grad_y);
    linear = worker_.offset;
    linear.noalias() += worker_.coupling * view(x);
    const double value = view(y).dot(0.5 * product_ - linear);
    linear = product_ - linear;
    return value;
  }

  void lower_hessian_product(std::span<const double> /*x*/, std::span<const double> /*y*/,
                             std::span<const double> u, std::span<double> out_y) override {
    view(out_y).noalias() = worker_.hessian * view(u);
  }

  void lower_cross_product(std::span<const double> /*x*/, std::span<const double> /*y*/,
                           std::span<const double> u, std::span<double> out_x) override {
    view(out_x).noalias() = -worker_.coupling.transpose() * view(u);
  }

  [[nodiscard]] UpperSupport upper_support(std::size_t /*upper_dim*/) const override {
    return worker_.support;
  }
  [[nodiscard]] bool upper_depends_on_x() const override { return worker_.upper_curvature > 0; }

 private:
  QuadraticWorker worker_;
  Vector product_;  // H_i y of the last call, [m]
};

/// Normal draws whose columns come one after the other, so that a matrix's first columns do not depend on how
/// many follow.
Matrix normal_matrix(RandomStream& random, std::size_t rows, std::size_t cols) {
  Matrix matrix(rows, cols);
  for (Eigen::Index c = 0; c < matrix.cols(); ++c) {
    for (Eigen::Index r = 0; r < matrix.rows(); ++r) matrix(r, c) = random.normal();
  }
  return matrix;
}

/// Standard normal draws of one worker or of all: the raw material of H_i, B_i, d_i, t_i, s_i.
struct Draws {
  Matrix basis, coupling;
  Vector offset, lower_target, upper_target;

  Draws(const QuadraticSettings& settings, std::uint64_t stream) {
    RandomStream random(settings.seed, stream);
    basis = normal_matrix(random, settings.lower_dim, settings.lower_dim);
    coupling = normal_matrix(random, settings.lower_dim, settings.upper_dim);
    offset = normal_matrix(random, settings.lower_dim, 1);
    lower_target = normal_matrix(random, settings.lower_dim, 1);
    upper_target = normal_matrix(random, settings.upper_dim, 1);
  }
};

/// A symmetric matrix with eigenvalues spaced geometrically over [1/condition, 1] and the eigenvectors that
/// orthogonalization makes of `basis`. Its largest eigenvalue is 1, so that step sizes need not follow the
/// condition.
Matrix conditioned_hessian(const Matrix& basis, double condition) {
  const Eigen::Index m = basis.rows();
  Vector eigenvalues(m);
  for (Eigen::Index k = 0; k < m; ++k) {
    const double position = m == 1 ? 0.0 : static_cast<double>(k) / static_cast<double>(m - 1);
    eigenvalues(k) = std::pow(condition, -position);
  }
  const Matrix q = Eigen::HouseholderQR<Matrix>(basis).householderQ();
  const Matrix hessian = q * eigenvalues.asDiagonal() * q.transpose();
  return 0.5 * (hessian + hessian.transpose());
}

std::size_t support_size(const QuadraticSettings& settings) {
  return settings.support_size == 0 ? settings.upper_dim : settings.support_size;
}

/// Worker i of N begins at i/(N-1) of the room there is: the first at 0, the last ends at n.
UpperSupport support_of(const QuadraticSettings& settings, std::size_t worker) {
  const std::size_t size = support_size(settings);
  if (settings.num_workers == 1) return {0, size};
  return {worker * (settings.upper_dim - size) / (settings.num_workers - 1), size};
}

void require(bool condition, const std::string& message) {
  if (!condition) throw std::invalid_argument("quadratic problem: " + message);
}

void check_settings(const QuadraticSettings& settings) {
  const std::size_t n = settings.upper_dim, m = settings.lower_dim, size = support_size(settings);
  require(n >= 1 && m >= 1 && settings.num_workers >= 1,
          "upper_dim, lower_dim and num_workers are at least 1");
  require(settings.condition >= 1 && std::isfinite(settings.condition),
          "condition is " + std::to_string(settings.condition) + ", expected at least 1");
  require(settings.heterogeneity >= 0 && settings.heterogeneity <= 1,
          "heterogeneity is " + std::to_string(settings.heterogeneity) + ", expected 0 to 1");
  require(size <= n, "support_size is " + std::to_string(size) + ", upper_dim " + std::to_string(n));
  require(settings.num_workers * size >= n, std::to_string(settings.num_workers) + " supports of " +
                                                std::to_string(size) + " cannot cover " + std::to_string(n) +
                                                " coordinates");
  require(settings.upper_uses_x || n <= m, "without a term in x the solution is unique only for upper_dim (" +
                                               std::to_string(n) + ") at most lower_dim (" +
                                               std::to_string(m) + ")");
}

std::vector<QuadraticWorker> draw_workers(const QuadraticSettings& settings) {
  check_settings(settings);
  const Draws common(settings, 0);
  // Common and own draws are both standard normal; this blend is standard normal again.
  const double own_share = settings.heterogeneity;
  const double common_share = std::sqrt(1 - own_share * own_share);

  std::vector<QuadraticWorker> workers(settings.num_workers);
  for (std::size_t i = 0; i < workers.size(); ++i) {
    const Draws own(settings, i + 1);
    const auto blend = [&](const auto& shared, const auto& mine) {
      return common_share * shared + own_share * mine;
    };
    QuadraticWorker& worker = workers[i];
    worker.support = support_of(settings, i);
    const Eigen::Index begin = static_cast<Eigen::Index>(worker.support.begin);
    const Eigen::Index size = static_cast<Eigen::Index>(worker.support.size);
    worker.hessian = conditioned_hessian(blend(common.basis, own.basis), settings.condition);
    worker.coupling = blend(common.coupling, own.coupling).middleCols(begin, size);
    worker.offset = blend(common.offset, own.offset);
    worker.lower_target = blend(common.lower_target, own.lower_target);
    worker.upper_target = blend(common.upper_target, own.upper_target).segment(begin, size);
    worker.upper_curvature = settings.upper_uses_x ? kUpperCurvature : 0.0;
  }
  return workers;
}

/// y*(x) = response x + rest, from H = sum H_i, B = sum B_i P_i, d = sum d_i.
struct LowerResponse {
  Matrix response;  // H^-1 B, [m x n]
  Vector rest;      // H^-1 d, [m]

  LowerResponse(const std::vector<QuadraticWorker>& workers, std::size_t upper_dim) {
    const Eigen::Index m = workers.front().offset.size();
    Matrix hessian = Matrix::Zero(m, m);
    Matrix coupling = Matrix::Zero(m, static_cast<Eigen::Index>(upper_dim));
    Vector offset = Vector::Zero(m);
    for (const QuadraticWorker& worker : workers) {
      hessian += worker.hessian;
      coupling.middleCols(static_cast<Eigen::Index>(worker.support.begin), worker.coupling.cols()) +=
          worker.coupling;
      offset += worker.offset;
    }
    const Eigen::LLT<Matrix> factor(hessian);
    response = factor.solve(coupling);
    rest = factor.solve(offset);
  }

  [[nodiscard]] Vector at(const Vector& upper) const { return response * upper + rest; }
};

double upper_value(const std::vector<QuadraticWorker>& workers, const Vector& upper, const Vector& lower) {
  double sum = 0;
  for (const QuadraticWorker& worker : workers) {
    const Eigen::Index begin = static_cast<Eigen::Index>(worker.support.begin);
    const auto part = upper.segment(begin, worker.upper_target.size());
    sum += 0.5 * (lower - worker.lower_target).squaredNorm() +
           0.5 * worker.upper_curvature * (part - worker.upper_target).squaredNorm();
  }
  return sum / static_cast<double>(workers.size());
}

/// The minimizer of sum_i G_i(x, response x + rest), as a least-squares problem: the squares ||y*(x) -
/// t_i||^2 of all workers are one, N ||y*(x) - mean t||^2, up to a constant, and those of every x_j likewise.
/// QR does not square the condition of `response`, as the normal equations would.
Vector solve_upper(const std::vector<QuadraticWorker>& workers, const LowerResponse& lower,
                   std::size_t upper_dim) {
  const double num_workers = static_cast<double>(workers.size());
  const Eigen::Index n = static_cast<Eigen::Index>(upper_dim), m = lower.rest.size();
  Vector mean_target = Vector::Zero(m), curvature = Vector::Zero(n), pull = Vector::Zero(n);
  for (const QuadraticWorker& worker : workers) {
    const Eigen::Index begin = static_cast<Eigen::Index>(worker.support.begin);
    const Eigen::Index size = worker.upper_target.size();
    mean_target += worker.lower_target / num_workers;
    curvature.segment(begin, size).array() += worker.upper_curvature;
    pull.segment(begin, size) += worker.upper_curvature * worker.upper_target;
  }
  Matrix squares = Matrix::Zero(m + n, n);
  Vector targets = Vector::Zero(m + n);
  squares.topRows(m) = std::sqrt(num_workers) * lower.response;
  targets.head(m) = std::sqrt(num_workers) * (mean_target - lower.rest);
  for (Eigen::Index j = 0; j < n && curvature(j) > 0; ++j) {
    squares(m + j, j) = std::sqrt(curvature(j));
    targets(m + j) = pull(j) / std::sqrt(curvature(j));
  }
  return squares.colPivHouseholderQr().solve(targets);
}

std::vector<double> to_std(const Vector& vector) { return {vector.data(), vector.data() + vector.size()}; }

}  // namespace

QuadraticInstance make_quadratic(const QuadraticSettings& settings) {
  std::vector<QuadraticWorker> workers = draw_workers(settings);
  const LowerResponse lower(workers, settings.upper_dim);
  const Vector upper_solution = solve_upper(workers, lower, settings.upper_dim);
  const Vector lower_solution = lower.at(upper_solution);
  QuadraticInstance instance{.problem = Problem(settings.upper_dim, settings.lower_dim),
                             .upper_solution = to_std(upper_solution),
                             .lower_solution = to_std(lower_solution),
                             .value = upper_value(workers, upper_solution, lower_solution)};
  for (QuadraticWorker& worker : workers) {
    instance.problem.add_worker(std::make_unique<QuadraticObjective>(std::move(worker)));
  }
  return instance;
}

std::vector<double> quadratic_hypergradient(const QuadraticSettings& settings,
                                            const std::vector<double>& upper) {
  require(upper.size() == settings.upper_dim, "the point has " + std::to_string(upper.size()) +
                                                  " coordinates, upper_dim is " +
                                                  std::to_string(settings.upper_dim));
  const std::vector<QuadraticWorker> workers = draw_workers(settings);
  const LowerResponse lower(workers, settings.upper_dim);
  const Vector x = view(std::span<const double>(upper));
  const Vector y = lower.at(x);
  Vector gradient_y = Vector::Zero(y.size());
  Vector gradient_x = Vector::Zero(x.size());
  for (const QuadraticWorker& worker : workers) {
    const Eigen::Index begin = static_cast<Eigen::Index>(worker.support.begin);
    const Eigen::Index size = worker.upper_target.size();
    gradient_y += y - worker.lower_target;
    gradient_x.segment(begin, size) +=
        worker.upper_curvature * (x.segment(begin, size) - worker.upper_target);
  }
  return to_std((gradient_x + lower.response.transpose() * gradient_y) / static_cast<double>(workers.size()));
}

}  // namespace adbo
