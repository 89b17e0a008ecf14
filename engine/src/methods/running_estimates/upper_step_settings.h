#pragma once

#include "adbo/problem.h"
#include "methods/running_estimates/contribution_form.h"
#include "methods/running_estimates/upper_step.h"

namespace adbo::detail {

/// The scaling, rate and length of the descent that suit a problem whose workers send contributions of
/// `form`. `rate` 0: automatic.
[[nodiscard]] UpperStepSettings upper_step_settings(const Problem& problem, ContributionForm form,
                                                    double rate = 0);

}  // namespace adbo::detail
