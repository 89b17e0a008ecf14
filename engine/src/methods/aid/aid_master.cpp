#include "methods/aid/aid_master.h"

#include <utility>

#include "protocol/vector_math.h"

namespace adbo::detail {
namespace {

std::unique_ptr<AdjointSolver> solver_of(const Options& options, Rounds& rounds) {
  const int steps = static_cast<int>(options.adjoint_steps);
  return options.method == Method::kAidNeumann ? make_neumann_solver(rounds, steps)
                                               : make_conjugate_gradient_solver(rounds, steps);
}

}  // namespace

AidHypergradient::AidHypergradient(Rounds& rounds, std::unique_ptr<AdjointSolver> solver)
    : rounds_(rounds),
      solver_(std::move(solver)),
      upper_gradient_lower_(rounds.problem().lower_dim()),
      cross_product_(rounds.problem().upper_dim()) {}

AdjointResult AidHypergradient::estimate(double step, OuterPoint& point) {
  rounds_.ask({.upper = true, .lower = true}, {.upper = point.upper, .lower = point.lower});
  point.value = rounds_.mean(&Evaluation::upper_value);
  point.lower_value = rounds_.mean(&Evaluation::lower_value);
  rounds_.mean(&Evaluation::upper_gradient_lower, upper_gradient_lower_);
  rounds_.mean_on_supports(&Evaluation::upper_gradient_upper, point.gradient);

  AdjointResult result = solver_->solve(
      {.upper = point.upper, .lower = point.lower, .rhs = upper_gradient_lower_}, step, point.adjoint);
  if (result.failure) return result;
  rounds_.ask({.cross_product = true},
              {.upper = point.upper, .lower = point.lower, .direction = point.adjoint});
  rounds_.mean_on_supports(&Evaluation::cross_product, cross_product_);
  add_scaled(-1.0, cross_product_, point.gradient);
  return result;
}

AidMaster::AidMaster(const Problem& problem, const Options& options)
    : DescentMaster(problem, options),
      descent_(rounds()),
      hypergradient_(rounds(), solver_of(options, rounds())) {}

SolveFailure AidMaster::estimate(std::int64_t t, OuterPoint& point) {
  descent_.run(point.upper, steps().lower(t), options().lower_steps, point.lower);
  AdjointResult result = hypergradient_.estimate(steps().adjoint(t), point);
  adjoint_residual_ = result.relative_residual;
  return std::move(result.failure);
}

}  // namespace adbo::detail
