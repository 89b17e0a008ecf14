#pragma once
// Newton's method with the whole Hessian: for few variables, however ill-conditioned.

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "adbo/kernels/fit.h"

namespace adbo::kernels {

/// The value at w, the gradient into `gradient` [dimension] and the symmetric Hessian into `hessian`
/// [dimension * dimension].
using SecondOrderFunction =
    std::function<double(std::span<const double> w, std::span<double> gradient, std::span<double> hessian)>;

/// Minimizes a smooth convex function by Newton steps with Cholesky factors and a halving line search, and
/// keeps the factors at the minimum. Scaling of the variables makes no difference to it, which L-BFGS and
/// conjugate gradients cannot say. Memory: two matrices, allocated at construction.
class DenseNewton {
 public:
  explicit DenseNewton(std::size_t dimension);
  ~DenseNewton();
  DenseNewton(const DenseNewton&) = delete;
  DenseNewton& operator=(const DenseNewton&) = delete;

  /// From the point in `w` [dimension], leaving the best point found there. options.memory does not apply.
  /// kStalled: the Hessian is not positive definite somewhere on the way, or no further decrease is
  /// representable; kUnbounded is not told apart from that.
  FitResult minimize(std::span<double> w, const SecondOrderFunction& function, const FitOptions& options);

  /// vector [dimension] <- Hessian^-1 vector at the point that minimize() left, where is_factored().
  void solve(std::span<double> vector) const;
  /// Whether the Hessian at that point is positive definite.
  [[nodiscard]] bool is_factored() const;

 private:
  struct Factors;
  double evaluate(std::span<const double> w, const SecondOrderFunction& function);
  bool search(std::span<double> w, double& value, const SecondOrderFunction& function,
              const FitOptions& options);

  int evaluations_ = 0;
  std::vector<double> trial_, gradient_, trial_gradient_, direction_;  // [dimension]
  std::unique_ptr<Factors> factors_;
};

}  // namespace adbo::kernels
