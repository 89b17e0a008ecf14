#include "methods/synchronous/evaluation_worker.h"

#include "protocol/count_work.h"
#include "protocol/require_finite.h"

namespace adbo::detail {
namespace {

WorkCounts work_of(const Wanted& wanted) {
  return {.upper_gradients = wanted.upper ? 1 : 0,
          .lower_gradients = wanted.lower || wanted.lower_slope ? 1 : 0,
          .hessian_products = wanted.hessian_product ? 1 : 0,
          .cross_products = wanted.cross_product ? 1 : 0};
}

/// How many of its samples a request makes the worker look at.
SampleCounts samples_taken(const Request& request, const SampleCounts& all) {
  return {.upper = request.upper_batch.range(all.upper).size(),
          .lower = request.lower_batch.range(all.lower).size()};
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
  evaluation.lower_slope.assign(support_.size, 0);
  evaluation.curvature.assign(curvature_size_ * curvature_size_, 0);
}

double EvaluationWorker::evaluate_upper(const Request& request, std::span<const double> x,
                                        std::span<const double> y, Evaluation& out) {
  if (request.upper_batch.is_everything()) {
    return objective_.upper(x, y, out.upper_gradient_upper, out.upper_gradient_lower);
  }
  return objective_.upper_batch(request.upper_batch, x, y, out.upper_gradient_upper,
                                out.upper_gradient_lower);
}

double EvaluationWorker::evaluate_lower(const Request& request, std::span<const double> x,
                                        std::span<const double> y, Evaluation& out) {
  const Wanted& wanted = request.wanted;
  const std::span<const double> u = request.point.direction;
  const std::span<double> gradient = output(wanted.lower, out.lower_gradient);
  const std::span<double> hessian = output(wanted.hessian_product, out.hessian_product);
  const std::span<double> cross = output(wanted.cross_product, out.cross_product);
  if (request.lower_batch.is_everything()) return objective_.lower_fused(x, y, u, gradient, hessian, cross);
  return objective_.lower_batch(request.lower_batch, x, y, u, gradient, hessian, cross);
}

void EvaluationWorker::round(const Request& request, const Snapshot&, const UpdateMessage&,
                             RoundMessage& out) {
  const Wanted& wanted = request.wanted;
  Evaluation& evaluation = out.evaluation;
  const std::span<const double> x = request.point.upper.subspan(support_.begin, support_.size);
  const std::span<const double> y = request.point.lower;
  out.work = work_of(wanted);
  count_samples(out.work, samples_taken(request, objective_.sample_counts()));

  if (wanted.upper) {
    evaluation.upper_value = evaluate_upper(request, x, y, evaluation);
    require_finite(evaluation.upper_value, "the upper objective");
    require_finite(evaluation.upper_gradient_upper, "the upper objective's gradient");
    require_finite(evaluation.upper_gradient_lower, "the upper objective's gradient");
  }
  if (wanted.lower || wanted.hessian_product || wanted.cross_product) {
    const double value = evaluate_lower(request, x, y, evaluation);
    if (wanted.lower) {
      evaluation.lower_value = value;
      require_finite(value, "the lower objective");
      require_finite(evaluation.lower_gradient, "the lower objective's gradient");
    }
    if (wanted.hessian_product) require_finite(evaluation.hessian_product, "the lower Hessian's product");
    if (wanted.cross_product) require_finite(evaluation.cross_product, "the lower cross product");
  }
  if (wanted.lower_slope) {
    objective_.lower_slope(x, y, evaluation.lower_slope);
    require_finite(evaluation.lower_slope, "the lower objective's slope in x");
  }
  if (wanted.curvature) {
    objective_.lower_curvature(x, y, evaluation.curvature);
    require_finite(evaluation.curvature, "the lower curvature");
  }
}

}  // namespace adbo::detail
