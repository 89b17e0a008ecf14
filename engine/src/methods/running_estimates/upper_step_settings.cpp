#include "methods/running_estimates/upper_step_settings.h"

#include "methods/running_estimates/upper_ownership.h"

namespace adbo::detail {
namespace {

/// Coordinates that all workers share have scales of their own; coordinates that belong to one worker each (a
/// weight per row) are exchangeable, and their common scale keeps those that matter apart from those that do
/// not.
UpperScaling choose_scaling(const Problem& problem) {
  return owns_upper_coordinates(problem) ? UpperScaling::kCommon : UpperScaling::kPerCoordinate;
}

}  // namespace

/// The rate is how far a coordinate moves per iteration at first: in its own units, or in those of the common
/// scale. Directions that are not late allow longer steps, and fewer of them.
UpperStepSettings upper_step_settings(const Problem& problem, ContributionForm form, double rate) {
  UpperStepSettings settings{.scaling = choose_scaling(problem),
                             .rate = 0.2,
                             .lowest = problem.upper_lowest(),
                             .highest = problem.upper_highest()};
  if (settings.scaling == UpperScaling::kCommon) settings.rate = 0.1;
  if (form == ContributionForm::kAffine) {
    settings.rate = 0.3;
    settings.descent_moves = 100;
  }
  if (rate > 0) settings.rate = rate;
  return settings;
}

}  // namespace adbo::detail
