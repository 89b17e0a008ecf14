#pragma once

#include "adbo/options.h"
#include "adbo/problem.h"
#include "methods/running_estimates/running_estimates.h"

namespace adbo::detail {

/// What is added to the lower Hessian in the adjoint's equation, (H + damping I) q = grad_y G, where the
/// upper variable has a coordinate per training row and so could fit the noise of the validation samples.
///
/// Along an eigenvector of H with eigenvalue e, n samples know grad_y G up to about sqrt(e / n), and H^-1
/// makes 1 / sqrt(e n) of that; the step in y that q stands for is hardly larger than a coordinate of y
/// itself, r = ||y-hat|| / sqrt(m). So directions with e < 1 / (n r^2) carry noise only, and the damping
/// takes them out (docs/practical.md has the measurements).
class AdjointDamping {
 public:
  AdjointDamping(const Problem& problem, const Options& options);
  /// At the present estimates; changes slowly.
  [[nodiscard]] double at(const RunningEstimates& estimates) const;

 private:
  double relative_;       ///< as given, in units of the mean curvature; negative: automatic
  double noisy_samples_;  ///< n, where their noise matters; 0: it does not, or n is not known
};

}  // namespace adbo::detail
