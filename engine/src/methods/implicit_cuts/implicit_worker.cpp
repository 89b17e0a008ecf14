#include "methods/implicit_cuts/implicit_worker.h"

#include <algorithm>
#include <cmath>

#include "protocol/count_work.h"
#include "protocol/require_finite.h"
#include "protocol/vector_math.h"

namespace adbo::detail {

ImplicitWorker::ImplicitWorker(const Problem& problem, std::size_t index, const CurvaturePlan& plan,
                               const Options& options)
    : objective_(problem.worker(index)),
      options_(options),
      index_(index),
      support_(problem.support(index)),
      lower_dim_(problem.lower_dim()),
      curvature_(plan, problem, index),
      has_copy_(options.lower_copies == LowerCopies::kLocal),
      point_(lower_dim_),
      last_point_(lower_dim_),
      last_gradient_(lower_dim_) {}

void ImplicitWorker::size(UpdateMessage& message) const {
  message.upper_objective_gradient.assign(lower_dim_, 0);
  message.lower_gradient.assign(lower_dim_, 0);
  message.hessian_product.assign(lower_dim_, 0);
  message.upper_direction.assign(support_.size, 0);
  message.upper_objective_slope.assign(objective_.upper_depends_on_x() ? support_.size : 0, 0);
  message.curvature.assign(curvature_.numbers(), 0);
  if (!has_copy_) return;
  message.lower_local.assign(lower_dim_, 0);
  const auto most_cuts = static_cast<std::size_t>(options_.max_cuts);
  message.cut_serial.reserve(most_cuts);
  message.cut_product.reserve(most_cuts);
  message.cut_gradient_product.reserve(most_cuts);
}

/// d_i is 0: without a cut the copy stands at y-hat, whatever the start says of it.
void ImplicitWorker::fill_start(UpdateMessage& message) const {
  message.upper_value = std::nan("");  // not evaluated yet
}

void ImplicitWorker::step(const Request& request, const Snapshot& snapshot, const UpdateMessage& previous,
                          UpdateMessage& out) {
  const std::span<const double> x =
      std::span(snapshot.upper_consensus).subspan(support_.begin, support_.size);
  place_point(snapshot, previous);
  const std::span<const double> y = point_;
  out.iteration = request.iteration;
  out.work = {.upper_gradients = 1, .lower_gradients = 1, .hessian_products = 1, .cross_products = 1};
  count_samples(out.work, objective_.sample_counts());

  out.upper_value = objective_.upper(x, y, out.upper_objective_slope, out.upper_objective_gradient);
  require_finite(out.upper_value, "the upper objective");
  require_finite(out.upper_objective_gradient, "the upper objective's gradient");
  require_finite(out.upper_objective_slope, "the upper objective's gradient in x");
  out.upper_curvature = measure_curvature(y, out.upper_objective_gradient);
  if (has_copy_) step_lower(snapshot, previous, out);

  const std::span<const double> estimate = snapshot.lower_consensus;
  out.lower_value = objective_.lower_fused(x, estimate, snapshot.lower_adjoint, out.lower_gradient,
                                           out.hessian_product, out.upper_direction);
  require_finite(out.lower_value, "the lower objective");
  require_finite(out.lower_gradient, "the lower objective's gradient");
  require_finite(out.upper_direction, "the lower objective's cross product");

  out.has_curvature = curvature_.is_due(x);
  if (out.has_curvature) curvature_.compute(objective_, x, estimate, out.curvature);
  curvature_.note_answer(x, out.has_curvature);
  ++answers_;
}

/// z; or the copy y_i = y-hat + d_i at the broadcast y-hat, with which it was carried along. Where no cut
/// would hold it the copy stands at y-hat.
void ImplicitWorker::place_point(const Snapshot& snapshot, const UpdateMessage& previous) {
  const std::vector<double>& base = has_copy_ ? snapshot.lower_consensus : snapshot.lower_point;
  std::copy(base.begin(), base.end(), point_.begin());
  if (has_copy_ && !snapshot.cuts.empty()) add_scaled(1.0, previous.lower_local, point_);
}

/// new_26 in d_i = y_i - y-hat, with the scalars that let the master do without it: b_il.d_i after the step,
/// b_il.grad_y G_i before.
void ImplicitWorker::step_lower(const Snapshot& snapshot, const UpdateMessage& previous,
                                UpdateMessage& out) const {
  const std::span<double> departure = out.lower_local;
  if (snapshot.cuts.empty()) {
    std::fill(departure.begin(), departure.end(), 0.0);
  } else {
    std::copy(previous.lower_local.begin(), previous.lower_local.end(), departure.begin());
  }
  add_scaled(-snapshot.lower_step, out.upper_objective_gradient, departure);
  for (std::size_t l = 0; l < snapshot.cuts.size(); ++l) {
    const double multiplier = snapshot.cut_multiplier[l];
    if (multiplier != 0)
      add_scaled(-snapshot.lower_step * multiplier, snapshot.cuts[l]->lower_local[index_], departure);
  }
  require_bounded(departure, "the worker's lower variable");

  out.cut_serial.clear();
  out.cut_product.clear();
  out.cut_gradient_product.clear();
  for (const Cut* cut : snapshot.cuts) {
    const std::vector<double>& block = cut->lower_local[index_];
    out.cut_serial.push_back(cut->serial);
    out.cut_product.push_back(dot(block, departure));
    out.cut_gradient_product.push_back(dot(block, out.upper_objective_gradient));
  }
}

/// ||change of the gradient|| / ||change of the point|| since the last answer; 0 where the point stood.
double ImplicitWorker::measure_curvature(std::span<const double> point, std::span<const double> gradient) {
  double moved = 0, changed = 0, size = 0;
  for (std::size_t k = 0; k < point.size(); ++k) {
    moved += (point[k] - last_point_[k]) * (point[k] - last_point_[k]);
    changed += (gradient[k] - last_gradient_[k]) * (gradient[k] - last_gradient_[k]);
    size += point[k] * point[k];
  }
  std::copy(point.begin(), point.end(), last_point_.begin());
  std::copy(gradient.begin(), gradient.end(), last_gradient_.begin());
  constexpr double kRoundingShare = 1e-16;  // squared: a smaller move tells of rounding alone
  return answers_ > 0 && moved > kRoundingShare * size ? std::sqrt(changed / moved) : 0;
}

}  // namespace adbo::detail
