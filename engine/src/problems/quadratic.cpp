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

/// How one worker's samples differ from their mean, nu included: one column or entry per sample.
struct SampleNoise {
  Vector hessian_scale, coupling_scale;  // nu a_s, nu b_s, [samples]
  Matrix lower_linear, upper_linear,
      upper_x_linear;  // nu e_s, nu f_s [m x samples], nu h_s [support x samples]
  [[nodiscard]] std::size_t samples() const { return static_cast<std::size_t>(hessian_scale.size()); }
};

/// One worker's data: H_i [m x m], B_i [m x support], d_i, t_i [m], s_i [support].
struct QuadraticWorker {
  UpperSupport support;
  Matrix hessian;
  Matrix coupling;
  Vector offset;
  Vector lower_target;
  Vector upper_target;
  double upper_curvature = 0;  // rho, or 0 without a term in x
  SampleNoise noise;
};

class QuadraticObjective final : public WorkerObjective {
 public:
  explicit QuadraticObjective(QuadraticWorker worker)
      : worker_(std::move(worker)),
        product_(worker_.offset.size()),
        lower_noise_(worker_.offset.size()),
        upper_noise_(worker_.upper_target.size()) {}

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

  double upper_batch(const Batch& batch, std::span<const double> x, std::span<const double> y,
                     std::span<double> grad_x, std::span<double> grad_y) override {
    if (is_whole(batch)) return upper(x, y, grad_x, grad_y);
    const Part part(batch, worker_.noise.samples());
    sum_columns(worker_.noise.upper_linear, part, lower_noise_);
    double value = part.share * part.size * upper(x, y, grad_x, grad_y) + lower_noise_.dot(view(y));
    view(grad_y) = part.share * part.size * view(grad_y) + lower_noise_;
    if (upper_depends_on_x()) {
      sum_columns(worker_.noise.upper_x_linear, part, upper_noise_);
      value += upper_noise_.dot(view(x));
      view(grad_x) = part.share * part.size * view(grad_x) + upper_noise_;
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

  void lower_slope(std::span<const double> /*x*/, std::span<const double> y,
                   std::span<double> out_x) override {
    view(out_x).noalias() = -worker_.coupling.transpose() * view(y);
  }

  double lower_batch(const Batch& batch, std::span<const double> x, std::span<const double> y,
                     std::span<const double> u, std::span<double> grad_y, std::span<double> hessian_y,
                     std::span<double> cross_x) override {
    if (is_whole(batch)) return lower_fused(x, y, u, grad_y, hessian_y, cross_x);
    const SampleNoise& noise = worker_.noise;
    const Part part(batch, noise.samples());
    const double hessian_scale = part.share * (part.size + sum(noise.hessian_scale, part));
    const double coupling_scale = part.share * (part.size + sum(noise.coupling_scale, part));
    if (!hessian_y.empty()) view(hessian_y).noalias() = hessian_scale * (worker_.hessian * view(u));
    if (!cross_x.empty())
      view(cross_x).noalias() = -coupling_scale * (worker_.coupling.transpose() * view(u));
    if (grad_y.empty()) return 0;
    sum_columns(noise.lower_linear, part, lower_noise_);
    product_.noalias() = hessian_scale * (worker_.hessian * view(y));
    View linear = view(grad_y);
    linear = part.share * part.size * worker_.offset + lower_noise_;
    linear.noalias() += coupling_scale * (worker_.coupling * view(x));
    const double value = view(y).dot(0.5 * product_ - linear);
    linear = product_ - linear;
    return value;
  }

  [[nodiscard]] SampleCounts sample_counts() const override {
    return {worker_.noise.samples(), worker_.noise.samples()};
  }
  [[nodiscard]] UpperSupport upper_support(std::size_t /*upper_dim*/) const override {
    return worker_.support;
  }
  [[nodiscard]] bool upper_depends_on_x() const override { return worker_.upper_curvature > 0; }

 private:
  /// A mini-batch in terms of columns; a sample's share of the estimate is batch.count / samples.
  struct Part {
    Part(const Batch& batch, std::size_t samples)
        : begin(static_cast<Eigen::Index>(batch.range(samples).begin)),
          columns(static_cast<Eigen::Index>(batch.range(samples).size())),
          size(static_cast<double>(columns)),
          share(static_cast<double>(batch.count) / static_cast<double>(samples)) {}
    Eigen::Index begin, columns;
    double size, share;
  };

  [[nodiscard]] bool is_whole(const Batch& batch) const {
    return batch.is_everything() || worker_.noise.samples() == 0;
  }
  static double sum(const Vector& noise, const Part& part) {
    return noise.segment(part.begin, part.columns).sum();
  }
  static void sum_columns(const Matrix& noise, const Part& part, Vector& out) {
    out.setZero();
    for (Eigen::Index s = part.begin; s < part.begin + part.columns; ++s) out += noise.col(s);
    out *= part.share;
  }

  QuadraticWorker worker_;
  Vector product_;                    // H_i y of the last call, [m]
  Vector lower_noise_, upper_noise_;  // sums over a batch's columns, [m], [support]
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

/// Multiples of a power of two, so that sums of them are exact whatever their order.
double on_grid(double value) { return std::ldexp(std::round(std::ldexp(value, 30)), -30); }

/// Columns in random order, each with its negative; an odd one is zero. Their sum is exactly zero.
template <class Draw>
Matrix balanced_columns(RandomStream& random, std::size_t rows, std::size_t samples, const Draw& draw) {
  Matrix matrix = Matrix::Zero(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(samples));
  const std::vector<std::size_t> order = random.permutation(samples);
  for (std::size_t k = 0; k + 1 < samples; k += 2) {
    for (Eigen::Index r = 0; r < matrix.rows(); ++r) {
      const double value = on_grid(draw());
      matrix(r, static_cast<Eigen::Index>(order[k])) = value;
      matrix(r, static_cast<Eigen::Index>(order[k + 1])) = -value;
    }
  }
  return matrix;
}

/// Streams of the samples' draws lie above those of the workers' own.
SampleNoise draw_noise(const QuadraticSettings& settings, std::size_t worker, std::size_t support) {
  constexpr std::uint64_t kFirstStream = std::uint64_t{1} << 32;
  RandomStream random(settings.seed, kFirstStream + worker);
  const auto uniform = [&] { return settings.sample_noise * (2 * random.uniform() - 1); };
  const auto normal = [&] { return settings.sample_noise * random.normal(); };
  SampleNoise noise;
  noise.hessian_scale = balanced_columns(random, 1, settings.samples, uniform).transpose();
  noise.coupling_scale = balanced_columns(random, 1, settings.samples, uniform).transpose();
  noise.lower_linear = balanced_columns(random, settings.lower_dim, settings.samples, normal);
  noise.upper_linear = balanced_columns(random, settings.lower_dim, settings.samples, normal);
  noise.upper_x_linear = balanced_columns(random, support, settings.samples, normal);
  return noise;
}

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
  require(settings.sample_noise >= 0 && settings.sample_noise < 1,
          "sample_noise is " + std::to_string(settings.sample_noise) + ", expected 0 to less than 1");
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
    worker.noise = draw_noise(settings, i, worker.support.size);
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
