#include "methods/running_estimates/contribution_form.h"

#include "methods/running_estimates/curvature_form.h"

namespace adbo::detail {

ContributionForm contribution_form(const Problem& problem) {
  const bool is_affine =
      problem.common_term() != nullptr && common_curvature_form(problem).kind == CurvatureForm::Kind::kBlock;
  return is_affine ? ContributionForm::kAffine : ContributionForm::kWhole;
}

}  // namespace adbo::detail
