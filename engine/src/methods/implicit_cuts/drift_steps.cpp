#include "methods/implicit_cuts/drift_steps.h"

#include <algorithm>

namespace adbo::detail {

void DriftSteps::see_curvature(double curvature) { curvature_ = std::max(curvature_, curvature); }

/// The largest rather than a mean: ||a|| goes to zero with the hypergradient where G depends on y alone, and
/// the step must not grow without bound there.
void DriftSteps::see_cut(double upper_norm_squared) {
  constexpr double kMemory = 0.999;
  upper_scale_ = std::max(kMemory * upper_scale_, upper_norm_squared);
}

void DriftSteps::follow(double lag, double turn) {
  constexpr double kLeastTurn = 0.3, kGrow = 1.05, kShrink = 0.7, kLeast = 1e-6, kMost = 1;
  const bool sound = lag <= kBearableLag && turn >= kLeastTurn;
  kappa_ = std::clamp(kappa_ * (sound ? kGrow : kShrink), kLeast, kMost);
}

}  // namespace adbo::detail
