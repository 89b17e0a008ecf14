#include "methods/synchronous/evaluation_worker.h"

#include "protocol/require_finite.h"

namespace adbo::detail {
namespace {

WorkCounts work_of(const Wanted& wanted) {
  return {.upper_gradients = wanted.upper ? 1 : 0,
          .lower_gradients = wanted.lower ? 1 : 0,
          .hessian_products = wanted.hessian_product ? 1 : 0,
          .cross_products = wanted.cross_product ? 1 : 0};
}

/// The buffer of an output, or nothing where it is not wanted: what lower_fused() expects.
std::span<double> output(bool wanted, std::vector<double>& buffer) {
  return wanted ? std::span<double>(buffer) : std::span<double>();
}

}  // namespace

EvaluationWorker::EvaluationWorker(const Problem& problem, std::size_t index, std::size_t curvature_size)
    : objective_(problem.worker(index)),
      support_(problem.support(index)),
      lower_dim_(problem.lower_dim()),
      curvature_size_(curvature_size) {}

void EvaluationWorker::size(RoundMessage& message) const {
  Evaluation& evaluation = message.evaluation;
  evaluation.upper_gradient_upper.assign(objective_.upper_depends_on_x() ? support_.size : 0, 0);
  evaluation.upper_gradient_lower.assign(lower_dim_, 0);
  evaluation.lower_gradient.assign(lower_dim_, 0);
  evaluation.hessian_product.assign(lower_dim_, 0);
  evaluation.cross_product.assign(support_.size, 0);
  evaluation.curvature.assign(curvature_size_ * curvature_size_, 0);
}

void EvaluationWorker::round(const Request& request, const Snapshot&, const UpdateMessage&,
                             RoundMessage& out) {
  const Wanted& wanted = request.wanted;
  Evaluation& evaluation = out.evaluation;
  const std::span<const double> x = request.point.upper.subspan(support_.begin, support_.size);
  const std::span<const double> y = request.point.lower, u = request.point.direction;
  out.work = work_of(wanted);

  if (wanted.upper) {
    evaluation.upper_value =
        objective_.upper(x, y, evaluation.upper_gradient_upper, evaluation.upper_gradient_lower);
    require_finite(evaluation.upper_value, "the upper objective");
    require_finite(evaluation.upper_gradient_upper, "the upper objective's gradient");
    require_finite(evaluation.upper_gradient_lower, "the upper objective's gradient");
  }
  if (wanted.lower || wanted.hessian_product || wanted.cross_product) {
    const double value = objective_.lower_fused(x, y, u, output(wanted.lower, evaluation.lower_gradient),
                                                output(wanted.hessian_product, evaluation.hessian_product),
                                                output(wanted.cross_product, evaluation.cross_product));
    if (wanted.lower) {
      evaluation.lower_value = value;
      require_finite(value, "the lower objective");
      require_finite(evaluation.lower_gradient, "the lower objective's gradient");
    }
    if (wanted.hessian_product) require_finite(evaluation.hessian_product, "the lower Hessian's product");
    if (wanted.cross_product) require_finite(evaluation.cross_product, "the lower cross product");
  }
  if (wanted.curvature) {
    objective_.lower_curvature(x, y, evaluation.curvature);
    require_finite(evaluation.curvature, "the lower curvature");
  }
}

}  // namespace adbo::detail
