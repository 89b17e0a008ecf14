#include "methods/running_estimates/adjoint_damping.h"

#include <algorithm>

#include "methods/running_estimates/upper_ownership.h"
#include "protocol/vector_math.h"

namespace adbo::detail {
namespace {

double noisy_samples(const Problem& problem) {
  if (!owns_upper_coordinates(problem)) return 0;
  double samples = 0;
  for (std::size_t i = 0; i < problem.num_workers(); ++i) {
    samples += static_cast<double>(problem.worker(i).upper_sample_count());
  }
  return samples;
}

}  // namespace

AdjointDamping::AdjointDamping(const Problem& problem, const Options& options)
    : relative_(options.adjoint_damping), noisy_samples_(noisy_samples(problem)) {}

double AdjointDamping::at(const RunningEstimates& estimates) const {
  const double curvature = estimates.preconditioner().mean_curvature();
  if (relative_ >= 0) return relative_ * curvature;
  if (noisy_samples_ == 0) return 0;
  constexpr double kPart = 0.5;  // of the threshold; 0.5 to 2 serve alike
  constexpr double kMost = 1e3;  // of the mean curvature: y-hat may be zero yet
  const double square = squared_norm(estimates.lower()) / static_cast<double>(estimates.lower().size());
  return std::min(kPart / (noisy_samples_ * square), kMost * curvature);
}

}  // namespace adbo::detail
