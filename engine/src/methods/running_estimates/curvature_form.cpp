#include "methods/running_estimates/curvature_form.h"

namespace adbo::detail {
namespace {

std::size_t common_size(const Problem& problem, std::size_t (WorkerObjective::*size_of)() const) {
  const std::size_t size = (problem.worker(0).*size_of)();
  if (size == 0 || problem.lower_dim() % size != 0) return 0;
  for (std::size_t i = 1; i < problem.num_workers(); ++i) {
    if ((problem.worker(i).*size_of)() != size) return 0;
  }
  return size;
}

}  // namespace

CurvatureForm common_curvature_form(const Problem& problem) {
  using Kind = CurvatureForm::Kind;
  if (const std::size_t size = common_size(problem, &WorkerObjective::lower_curvature_size); size > 0) {
    return {Kind::kBlock, size};
  }
  if (const std::size_t size = common_size(problem, &WorkerObjective::lower_curvature_diagonal_size);
      size > 0) {
    return {Kind::kDiagonal, size};
  }
  return {};
}

}  // namespace adbo::detail
