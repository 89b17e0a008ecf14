#include "adbo/objective.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "protocol/vector_math.h"

namespace adbo {
namespace {

using detail::dot;

/// The step of a central difference along u at y: the cube root of the rounding unit balances truncation
/// (step^2) against cancellation (1/step), relative to the sizes of y and u.
double difference_step(std::span<const double> y, std::span<const double> u) {
  double y_max = 0, u_max = 0;
  for (const double value : y) y_max = std::max(y_max, std::abs(value));
  for (const double value : u) u_max = std::max(u_max, std::abs(value));
  if (u_max == 0) return 0;
  return std::cbrt(std::numeric_limits<double>::epsilon()) * std::max(1.0, y_max) / u_max;
}

}  // namespace

void WorkerObjective::lower_hessian_product(std::span<const double> x, std::span<const double> y,
                                            std::span<const double> u, std::span<double> out_y) {
  const double step = difference_step(y, u);
  std::fill(out_y.begin(), out_y.end(), 0.0);
  if (step == 0) return;
  std::vector<double> moved(y.begin(), y.end()), gradient(y.size());
  for (const double sign : {1.0, -1.0}) {
    for (std::size_t k = 0; k < y.size(); ++k) moved[k] = y[k] + sign * step * u[k];
    lower(x, moved, gradient);
    for (std::size_t k = 0; k < y.size(); ++k) out_y[k] += sign * gradient[k] / (2 * step);
  }
}

void WorkerObjective::lower_cross_product(std::span<const double> x, std::span<const double> y,
                                          std::span<const double> u, std::span<double> out_x) {
  std::vector<double> moved(x.begin(), x.end()), gradient(y.size());
  const double unit = std::cbrt(std::numeric_limits<double>::epsilon());
  for (std::size_t j = 0; j < x.size(); ++j) {
    const double step = unit * std::max(1.0, std::abs(x[j]));
    moved[j] = x[j] + step;
    lower(moved, y, gradient);
    const double ahead = dot(gradient, u);
    moved[j] = x[j] - step;
    lower(moved, y, gradient);
    out_x[j] = (ahead - dot(gradient, u)) / (2 * step);
    moved[j] = x[j];
  }
}

void WorkerObjective::lower_slope(std::span<const double> x, std::span<const double> y,
                                  std::span<double> out_x) {
  std::vector<double> moved(x.begin(), x.end()), gradient(y.size());
  const double unit = std::cbrt(std::numeric_limits<double>::epsilon());
  for (std::size_t j = 0; j < x.size(); ++j) {
    const double step = unit * std::max(1.0, std::abs(x[j]));
    moved[j] = x[j] + step;
    const double ahead = lower(moved, y, gradient);
    moved[j] = x[j] - step;
    out_x[j] = (ahead - lower(moved, y, gradient)) / (2 * step);
    moved[j] = x[j];
  }
}

void WorkerObjective::lower_curvature(std::span<const double>, std::span<const double>,
                                      std::span<double> block) {
  std::fill(block.begin(), block.end(), 0.0);
}

void WorkerObjective::lower_curvature_diagonal(std::span<const double>, std::span<const double>,
                                               std::span<double> diagonal) {
  std::fill(diagonal.begin(), diagonal.end(), 0.0);
}

double WorkerObjective::lower_fused(std::span<const double> x, std::span<const double> y,
                                    std::span<const double> u, std::span<double> grad_y,
                                    std::span<double> hessian_y, std::span<double> cross_x) {
  if (!hessian_y.empty()) lower_hessian_product(x, y, u, hessian_y);
  if (!cross_x.empty()) lower_cross_product(x, y, u, cross_x);
  return grad_y.empty() ? 0 : lower(x, y, grad_y);
}

double WorkerObjective::upper_batch(const Batch&, std::span<const double> x, std::span<const double> y,
                                    std::span<double> grad_x, std::span<double> grad_y) {
  return upper(x, y, grad_x, grad_y);
}

double WorkerObjective::lower_batch(const Batch&, std::span<const double> x, std::span<const double> y,
                                    std::span<const double> u, std::span<double> grad_y,
                                    std::span<double> hessian_y, std::span<double> cross_x) {
  return lower_fused(x, y, u, grad_y, hessian_y, cross_x);
}

}  // namespace adbo
