#include "methods/async_hypergradient/hypergradient_worker.h"

#include <cmath>

#include "protocol/count_work.h"
#include "protocol/require_finite.h"

namespace adbo::detail {

HypergradientWorker::HypergradientWorker(const Problem& problem, std::size_t index, const CurvaturePlan& plan)
    : objective_(problem.worker(index)),
      support_(problem.support(index)),
      lower_dim_(problem.lower_dim()),
      curvature_(plan, problem, index),
      data_(problem),
      upper_gradient_(objective_.upper_depends_on_x() ? support_.size : 0) {}

void HypergradientWorker::size(UpdateMessage& message) const {
  message.upper_objective_gradient.assign(lower_dim_, 0);
  message.lower_gradient.assign(lower_dim_, 0);
  message.hessian_product.assign(lower_dim_, 0);
  message.upper_direction.assign(support_.size, 0);
  message.curvature.assign(curvature_.numbers(), 0);
}

void HypergradientWorker::fill_start(UpdateMessage& message) const { message.upper_value = std::nan(""); }

void HypergradientWorker::step(const Request& request, const Snapshot& snapshot, const UpdateMessage&,
                               UpdateMessage& out) {
  const std::span<const double> x =
      std::span(snapshot.upper_consensus).subspan(support_.begin, support_.size);
  const std::span<const double> y = snapshot.lower_consensus;
  out.iteration = request.iteration;
  out.work = {.upper_gradients = 1, .lower_gradients = 1, .hessian_products = 1, .cross_products = 1};
  count_samples(out.work, objective_.sample_counts());

  out.upper_value = objective_.upper(x, y, upper_gradient_, out.upper_objective_gradient);
  require_finite(out.upper_value, "the upper objective");
  out.lower_value = objective_.lower_fused(x, y, snapshot.lower_adjoint, out.lower_gradient,
                                           out.hessian_product, out.upper_direction);
  require_finite(out.lower_value, "the lower objective");

  // grad_x G_i - (d2 g_i/dx dy) q: the worker's part of the hypergradient. Where x enters g_i by a common
  // term alone, the cross product is the master's.
  for (std::size_t k = 0; k < out.upper_direction.size(); ++k) {
    const double cross = data_.is_whole() ? out.upper_direction[k] : 0.0;
    out.upper_direction[k] = (upper_gradient_.empty() ? 0.0 : upper_gradient_[k]) - cross;
  }
  require_finite(out.upper_objective_gradient, "the upper objective's gradient");
  require_finite(out.lower_gradient, "the lower objective's gradient");
  require_finite(out.upper_direction, "the worker's part of the hypergradient");

  out.has_curvature = curvature_.is_due(x) || data_.needs_block();
  if (out.has_curvature) {
    curvature_.compute(objective_, x, y, out.curvature);
    require_finite(out.curvature, "the lower objective's curvature");
  }
  curvature_.note_answer(x, out.has_curvature);
  data_.reduce(x, y, snapshot.lower_adjoint, out);
}

}  // namespace adbo::detail
