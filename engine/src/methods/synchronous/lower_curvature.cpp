#include "methods/synchronous/lower_curvature.h"

#include <cmath>
#include <vector>

#include "adbo/random.h"
#include "protocol/vector_math.h"

namespace adbo::detail {

double largest_lower_eigenvalue(Rounds& rounds, std::span<const double> upper,
                                std::span<const double> lower) {
  constexpr int kMostProducts = 60;
  constexpr double kAccuracy = 1e-3;  // relative change of the estimate
  std::vector<double> direction(lower.size()), product(lower.size());
  RandomStream random(1, 0);  // any direction does that is orthogonal to no eigenvector
  for (double& entry : direction) entry = random.normal();
  double norm = std::sqrt(squared_norm(direction)), eigenvalue = 0;
  for (int k = 0; k < kMostProducts && norm > 0; ++k) {
    for (double& entry : direction) entry /= norm;
    rounds.ask({.hessian_product = true}, {.upper = upper, .lower = lower, .direction = direction});
    rounds.mean(&Evaluation::hessian_product, product);
    direction.swap(product);
    norm = std::sqrt(squared_norm(direction));
    const bool settled = std::abs(norm - eigenvalue) <= kAccuracy * norm;
    eigenvalue = norm;
    if (settled) break;
  }
  return eigenvalue;
}

}  // namespace adbo::detail
