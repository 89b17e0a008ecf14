#include "methods/running_estimates/preconditioner.h"

#include "methods/running_estimates/block_preconditioner.h"
#include "methods/running_estimates/curvature_form.h"
#include "methods/running_estimates/diagonal_preconditioner.h"

namespace adbo::detail {

std::unique_ptr<Preconditioner> make_preconditioner(const Problem& problem) {
  const CurvatureForm form = common_curvature_form(problem);
  if (form.kind == CurvatureForm::Kind::kBlock) {
    return std::make_unique<BlockPreconditioner>(form.size, problem.num_workers());
  }
  return std::make_unique<DiagonalPreconditioner>(form.size, problem.num_workers());
}

}  // namespace adbo::detail
