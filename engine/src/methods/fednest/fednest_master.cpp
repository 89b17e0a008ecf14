#include "methods/fednest/fednest_master.h"

#include <limits>
#include <utility>

#include "protocol/vector_math.h"

namespace adbo::detail {

FedNestMaster::FedNestMaster(const Problem& problem, const Options& options,
                             std::shared_ptr<const BatchSampler> sampler)
    : DescentMaster(problem, options, StepCurvature::kLocal),
      sampler_(std::move(sampler)),
      solver_(make_neumann_solver(rounds(), static_cast<int>(options.adjoint_steps))),
      lower_gradient_(problem.lower_dim()),
      upper_gradient_lower_(problem.lower_dim()),
      cross_product_(problem.upper_dim()),
      moved_(problem.upper_dim()) {
  for (std::size_t i = 0; i < problem.num_workers(); ++i) {
    upper_depends_on_x_ = upper_depends_on_x_ || problem.worker(i).upper_depends_on_x();
  }
}

std::uint64_t FedNestMaster::take_draws(std::int64_t count) {
  return std::exchange(next_draw_, next_draw_ + static_cast<std::uint64_t>(count));
}

SolveFailure FedNestMaster::estimate(std::int64_t t, OuterPoint& point) {
  for (std::int64_t k = 0; k < options().fednest_rounds; ++k) improve_lower(steps().lower(t), point);
  if (options().fednest_variant == FedNestVariant::kLight) {
    point.value = point.lower_value = std::numeric_limits<double>::quiet_NaN();  // nobody sends them
    step_upper_locally(t, point);
    return {};
  }
  if (SolveFailure failure = federated_hypergradient(steps().adjoint(t), point)) return failure;
  // A single local step, and any number where no G_i depends on x, goes along h alone: no round is needed.
  const double count = static_cast<double>(options().upper_steps);
  if (options().upper_steps > 1 && upper_depends_on_x_) {
    step_upper_locally(t, point);
  } else {
    for (double& entry : point.gradient) entry *= count;
  }
  return {};
}

void FedNestMaster::improve_lower(double step, OuterPoint& point) {
  LocalSteps local{.variable = LocalSteps::Variable::kLower,
                   .is_corrected = options().fednest_variant == FedNestVariant::kFull,
                   .count = options().lower_steps,
                   .step = step};
  const EvaluationPoint here{.upper = point.upper, .lower = point.lower};
  if (local.is_corrected) {
    rounds().ask({.lower = true}, here, *sampler_, {.lower = take_draws(1)});
    point.lower_value = rounds().mean(&Evaluation::lower_value);
    rounds().mean(&Evaluation::lower_gradient, lower_gradient_);
    local.correction = lower_gradient_;
  }
  local.first_draw = take_draws(local.count);
  rounds().ask_local_steps(local, here);
  rounds().mean(&Evaluation::local_lower, point.lower);
}

SolveFailure FedNestMaster::federated_hypergradient(double adjoint_step, OuterPoint& point) {
  const std::uint64_t draw = take_draws(1);
  rounds().ask({.upper = true}, {.upper = point.upper, .lower = point.lower}, *sampler_, {.upper = draw});
  point.value = rounds().mean(&Evaluation::upper_value);
  rounds().mean(&Evaluation::upper_gradient_lower, upper_gradient_lower_);
  rounds().mean_on_supports(&Evaluation::upper_gradient_upper, point.gradient);

  const AdjointSystem system{.upper = point.upper,
                             .lower = point.lower,
                             .rhs = upper_gradient_lower_,
                             .sampler = sampler_->is_exact() ? nullptr : sampler_.get(),
                             .first_draw = take_draws(options().adjoint_steps)};
  AdjointResult result = solver_->solve(system, adjoint_step, point.adjoint);
  adjoint_residual_ = result.relative_residual;
  if (result.failure) return std::move(result.failure);

  rounds().ask({.cross_product = true},
               {.upper = point.upper, .lower = point.lower, .direction = point.adjoint}, *sampler_,
               {.lower = take_draws(1)});
  rounds().mean_on_supports(&Evaluation::cross_product, cross_product_);
  add_scaled(-1.0, cross_product_, point.gradient);
  return {};
}

/// upper_steps local steps; the direction that leads from x to the mean of the x_i becomes the gradient.
void FedNestMaster::step_upper_locally(std::int64_t t, OuterPoint& point) {
  const bool is_light = options().fednest_variant == FedNestVariant::kLight;
  LocalSteps local{.variable = LocalSteps::Variable::kUpper,
                   .is_corrected = !is_light,
                   .count = options().upper_steps,
                   .step = steps().upper(t)};
  if (is_light) {
    local.adjoint_terms = options().adjoint_steps;
    local.adjoint_step = steps().adjoint(t);
  } else {
    local.correction = point.gradient;
  }
  local.first_draw = take_draws(local.count * (local.adjoint_terms + 1));
  rounds().ask_local_steps(local, {.upper = point.upper, .lower = point.lower});
  // Outside of its support a worker moves by the corrections alone.
  const double outside = is_light ? 0 : static_cast<double>(local.count);
  take_upper_mean(local.step, outside, point);
}

void FedNestMaster::take_upper_mean(double step, double outside, OuterPoint& point) {
  const Problem& problem = rounds().problem();
  const double share = 1 / (step * static_cast<double>(rounds().asked().size()));
  for (std::size_t j = 0; j < moved_.size(); ++j) moved_[j] = outside * point.gradient[j];
  point.gradient = moved_;
  for (const std::size_t i : rounds().asked()) {
    const UpperSupport& support = problem.support(i);
    const std::vector<double>& local = rounds().answer(i).local_upper;
    for (std::size_t k = 0; k < support.size; ++k) {
      const std::size_t j = support.begin + k;
      // (x - x_i) / step is this worker's direction; the others' there is what moved_ says, or their own.
      point.gradient[j] +=
          share * (point.upper[j] - local[k]) - moved_[j] / static_cast<double>(rounds().asked().size());
    }
  }
}

}  // namespace adbo::detail
