#include "methods/running_estimates/diagonal_preconditioner.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "protocol/vector_math.h"

namespace adbo::detail {

DiagonalPreconditioner::DiagonalPreconditioner(std::size_t size, std::size_t num_workers)
    : diagonals_(num_workers), diagonal_(std::max<std::size_t>(1, size), 1.0) {}

void DiagonalPreconditioner::drop(std::size_t worker) {
  diagonals_[worker].clear();
  // The last one's stays in use until another is heard.
  changed_ = std::any_of(diagonals_.begin(), diagonals_.end(), [](const auto& one) { return !one.empty(); });
}

void DiagonalPreconditioner::set_curvature(std::size_t worker, std::span<const double> curvature) {
  diagonals_[worker].assign(curvature.begin(), curvature.end());
  changed_ = true;
}

void DiagonalPreconditioner::see_product(std::span<const double> u, std::span<const double> product) {
  constexpr double kMargin = 2;     // a product shows the curvature along u alone
  constexpr double kMemory = 0.95;  // D changes while a run goes on, and what s was learned with it
  double norm = 0, image = 0;       // ||D^1/2 u||^2, ||D^-1/2 Hu||^2
  const std::size_t b = diagonal_.size();
  for (std::size_t piece = 0; piece < u.size(); piece += b) {
    for (std::size_t k = 0; k < b; ++k) {
      const double d = diagonal_[k], v = u[piece + k], image_entry = product[piece + k];
      norm += d * v * v;
      image += image_entry * image_entry / d;
    }
  }
  if (norm > 0) factor_ = std::max(kMemory * factor_, kMargin * std::sqrt(image / norm));
}

/// The mean of the diagonals that are there. A coordinate without rows keeps a little of the mean.
void DiagonalPreconditioner::refresh(double damping) {
  damping_ = damping;
  if (!changed_) return;
  changed_ = false;
  std::fill(diagonal_.begin(), diagonal_.end(), 0.0);
  double heard = 0;
  for (const std::vector<double>& one : diagonals_) {
    if (one.empty()) continue;
    add_scaled(1.0, one, diagonal_);
    heard += 1;
  }
  constexpr double kFloor = 1e-6;
  const auto b = static_cast<double>(diagonal_.size());
  mean_ = std::accumulate(diagonal_.begin(), diagonal_.end(), 0.0) / (b * heard);
  for (double& entry : diagonal_) entry = entry / heard + kFloor * mean_;
  largest_ = *std::max_element(diagonal_.begin(), diagonal_.end());
}

void DiagonalPreconditioner::solve(std::span<double> vector) const { divide(vector, 0); }
void DiagonalPreconditioner::solve_damped(std::span<double> vector) const { divide(vector, damping_); }

void DiagonalPreconditioner::divide(std::span<double> vector, double damping) const {
  if (!is_known()) return;
  const std::size_t b = diagonal_.size();
  for (std::size_t piece = 0; piece < vector.size(); piece += b) {
    for (std::size_t k = 0; k < b; ++k) vector[piece + k] /= factor_ * diagonal_[k] + damping;
  }
}

}  // namespace adbo::detail
