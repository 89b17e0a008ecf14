#pragma once
// Unconstrained minimization of a smooth convex function: the re-solve behind every honest measure.

#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace adbo::kernels {

/// The value at w, and the gradient into `gradient` [dimension].
using ValueAndGradient = std::function<double(std::span<const double> w, std::span<double> gradient)>;
/// Hessian(w) u into out [dimension].
using HessianProduct =
    std::function<void(std::span<const double> w, std::span<const double> u, std::span<double> out)>;

struct FitOptions {
  double gradient_tolerance = 1e-8;  ///< stop when the Euclidean norm of the gradient is at most this
  int max_evaluations = 2000;        ///< of value and gradient, Hessian products counted alike; >= 1
  int memory = 20;                   ///< pairs that L-BFGS keeps
};

enum class FitStatus { kConverged, kEvaluationLimit, kStalled, kUnbounded, kNotFinite };
[[nodiscard]] std::string_view to_string(FitStatus status);

struct FitResult {
  FitStatus status = FitStatus::kNotFinite;
  double value = 0;
  double gradient_norm = 0;
  int evaluations = 0;
};

/// Minimizes from the point in `w` [dimension] and leaves the best point found there.
///
/// L-BFGS with a strong-Wolfe line search; where `hessian` is given (it may be empty), truncated Newton
/// (conjugate gradients) takes over once L-BFGS stalls before the tolerance or has used half of the
/// evaluations. The same inputs give the same bits. All memory is allocated at the start, (2 memory + 10)
/// vectors of the dimension or so. kUnbounded: the value fell without bound along a direction of non-positive
/// curvature (a lower level with a negative regularizer), w is a far point on it; kStalled: no further
/// decrease is representable; kNotFinite: the function is not finite at the start, or wherever it was asked
/// along the last direction, however close to w.
FitResult fit(std::span<double> w, const ValueAndGradient& function, const HessianProduct& hessian,
              const FitOptions& options);

struct LinearSolveResult {
  bool converged = false;
  bool non_positive_curvature = false;
  int iterations = 0;        ///< products with A, those for the true residual not counted
  double residual_norm = 0;  ///< ||b - A x|| at the x returned, computed from that x
};
/// A u into out [dimension].
using LinearProduct = std::function<void(std::span<const double> u, std::span<double> out)>;

/// Conjugate gradients for A x = b, A symmetric positive definite, with memory that is allocated once.
class ConjugateGradients {
 public:
  explicit ConjugateGradients(std::size_t dimension);

  /// `x` [dimension] holds the start and the result.
  ///
  /// Converged: residual_norm <= tolerance ||b||, judged by the true residual, not by the recursion's. b = 0
  /// gives x = 0, converged. Non-positive curvature ends the iteration at the x reached before it.
  LinearSolveResult solve(const LinearProduct& product, std::span<const double> b, std::span<double> x,
                          double tolerance, int max_iterations);

 private:
  std::vector<double> residual_, search_, image_;
};

/// The same, once.
LinearSolveResult conjugate_gradients(const LinearProduct& product, std::span<const double> b,
                                      std::span<double> x, double tolerance, int max_iterations);

}  // namespace adbo::kernels
