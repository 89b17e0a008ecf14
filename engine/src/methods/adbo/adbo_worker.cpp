#include "methods/adbo/adbo_worker.h"

#include <algorithm>
#include <cmath>

#include "protocol/count_work.h"
#include "protocol/require_finite.h"
#include "protocol/vector_math.h"

namespace adbo::detail {
namespace {

void copy(std::span<const double> from, std::span<double> to) {
  std::copy(from.begin(), from.end(), to.begin());
}

}  // namespace

AdboWorker::AdboWorker(const Problem& problem, std::size_t index, const Options& options)
    : objective_(problem.worker(index)),
      options_(options),
      index_(index),
      support_(problem.support(index)),
      local_(local_upper(problem, options, index)),
      lower_dim_(problem.lower_dim()),
      start_(problem.start()),
      upper_dim_(problem.upper_dim()),
      steps_(round_steps(options)),
      trajectory_(static_cast<std::size_t>(options.lower_rounds) + 2, std::vector<double>(lower_dim_)),
      upper_objective_gradient_(objective_.upper_depends_on_x() ? support_.size : 0),
      gradient_(lower_dim_),
      hessian_product_(lower_dim_),
      cross_product_(support_.size),
      upper_gradient_(support_.size),
      local_adjoint_(lower_dim_),
      dual_adjoint_(lower_dim_) {}

void AdboWorker::size(UpdateMessage& message) const {
  message.upper_local.assign(local_.size, 0);
  message.lower_local.assign(lower_dim_, 0);
  message.cut_serial.reserve(static_cast<std::size_t>(options_.max_cuts));
  message.cut_product.reserve(static_cast<std::size_t>(options_.max_cuts));
}

void AdboWorker::size(RoundMessage& message) const {
  message.point.assign(lower_dim_, 0);
  message.start.assign(lower_dim_, 0);
  message.local_adjoint.assign(lower_dim_, 0);
  message.dual_adjoint.assign(lower_dim_, 0);
  message.upper_gradient.assign(support_.size, 0);
}

void AdboWorker::fill_start(UpdateMessage& message) const {
  if (!start_.upper.empty()) {
    copy(std::span(start_.upper).subspan(local_.begin, local_.size), message.upper_local);
  }
  const bool has_own = index_ < start_.lower_local.size() && !start_.lower_local[index_].empty();
  const std::vector<double>& lower = has_own ? start_.lower_local[index_] : start_.lower;
  if (!lower.empty()) copy(lower, message.lower_local);
  message.upper_value = std::nan("");  // not evaluated yet
}

std::span<const double> AdboWorker::consensus_on_support(const Snapshot& snapshot) const {
  return std::span(snapshot.upper_consensus).subspan(support_.begin, support_.size);
}

std::span<const double> AdboWorker::objective_upper(std::span<const double> upper_local,
                                                    const Snapshot& snapshot) const {
  if (upper_local.empty()) return consensus_on_support(snapshot);
  return upper_local.subspan(support_.begin - local_.begin, support_.size);
}

/// G_i and its gradients: in x into upper_objective_gradient_, in y into `lower_gradient`.
double AdboWorker::upper_gradients(std::span<const double> upper_local, std::span<const double> lower_local,
                                   const Snapshot& snapshot, std::span<double> lower_gradient) {
  const double value = objective_.upper(objective_upper(upper_local, snapshot), lower_local,
                                        upper_objective_gradient_, lower_gradient);
  require_finite(value, "the upper objective");
  return value;
}

void AdboWorker::step(const Request& request, const Snapshot& snapshot, const UpdateMessage& previous,
                      UpdateMessage& out) {
  out.iteration = request.iteration;
  out.work = {.upper_gradients = 1};
  count_samples(out.work, objective_.sample_counts());

  // new_26: the gradient of the Lagrangian is built where the new y_i will lie.
  std::span<double> y = out.lower_local;
  out.upper_value = upper_gradients(previous.upper_local, previous.lower_local, snapshot, y);
  for (std::size_t l = 0; l < snapshot.cuts.size(); ++l) {
    const double multiplier = snapshot.cut_multiplier[l];
    if (multiplier != 0) add_scaled(multiplier, snapshot.cuts[l]->lower_local[index_], y);
  }
  for (std::size_t k = 0; k < y.size(); ++k)
    y[k] = previous.lower_local[k] - options_.step_lower_local * y[k];
  require_bounded(y, "the worker's lower variable");

  if (local_.size > 0) step_upper(request, previous, out);

  out.cut_serial.clear();
  out.cut_product.clear();
  for (const Cut* cut : snapshot.cuts) {
    out.cut_serial.push_back(cut->serial);
    out.cut_product.push_back(dot(cut->lower_local[index_], y));
  }
}

/// new_25: x_i <- x_i - eta_x (grad_x G_i + theta_i); outside the support grad_x G_i is 0.
void AdboWorker::step_upper(const Request& request, const UpdateMessage& previous, UpdateMessage& out) const {
  std::span<double> x = out.upper_local;
  const double step = options_.step_upper_local;
  for (std::size_t k = 0; k < x.size(); ++k)
    x[k] = previous.upper_local[k] - step * request.consensus_dual[k];
  const std::size_t shift = support_.begin - local_.begin;
  for (std::size_t k = 0; k < upper_objective_gradient_.size(); ++k)
    x[shift + k] -= step * upper_objective_gradient_[k];
  require_bounded(x, "the worker's upper variable");
}

void AdboWorker::round(const Request& request, const Snapshot& snapshot, const UpdateMessage& previous,
                       RoundMessage& out) {
  out.work = {};
  answer(request, snapshot, previous, out);
  count_samples(out.work, objective_.sample_counts());
}

void AdboWorker::answer(const Request& request, const Snapshot& snapshot, const UpdateMessage& previous,
                        RoundMessage& out) {
  switch (request.ask) {
    case Ask::kForward:
    case Ask::kIsolatedRound:
      return forward(request, snapshot, previous, out);
    case Ask::kReverse:
      return reverse(request, snapshot, out);
    case Ask::kIsolatedGradient:
      return isolated_gradient(request, snapshot, out);
    case Ask::kMeasure:
      return measure(request, snapshot, out);
    case Ask::kStep:
      break;
  }
}

/// 97_35 from y'_k to y'_{k+1}.
void AdboWorker::forward(const Request& request, const Snapshot& snapshot, const UpdateMessage& previous,
                         RoundMessage& out) {
  const auto k = static_cast<std::size_t>(request.round);
  if (k == 0) {
    copy(request.start_from_reference ? request.reference_lower
                                      : std::span<const double>(previous.lower_local),
         trajectory_[0]);
    if (!request.start_from_reference) copy(trajectory_[0], out.start);
  }
  out.lower_value = objective_.lower(consensus_on_support(snapshot), trajectory_[k], gradient_);
  out.work.lower_gradients = 1;
  require_finite(out.lower_value, "the lower objective");
  kernels::local_round(steps_, trajectory_[k], gradient_, request.round_dual, request.round_consensus,
                       trajectory_[k + 1]);
  require_bounded(trajectory_[k + 1], "the lower round's iterate");
  copy(trajectory_[k + 1], out.point);
  if (!request.last_round) return;

  fill_cut_block(request, trajectory_[k + 1], out);
  if (!request.with_adjoint) return;
  // The reverse begins where the forward ends: ybar_K = dh/dy'_K = -2 (y_i - y'_K) = -b_i, phibar_K = 0.
  const std::vector<double>& block = request.new_cut->lower_local[index_];
  for (std::size_t j = 0; j < lower_dim_; ++j) local_adjoint_[j] = -block[j];
  std::fill(dual_adjoint_.begin(), dual_adjoint_.end(), 0.0);
  std::fill(upper_gradient_.begin(), upper_gradient_.end(), 0.0);
  reverse(request, snapshot, out);
}

/// b_i = 2 (y_i - y'_iK), with ||y_i - y'_iK||^2 and b_i . y_i, for the master's y_i.
void AdboWorker::fill_cut_block(const Request& request, std::span<const double> point, RoundMessage& out) {
  std::vector<double>& block = request.new_cut->lower_local[index_];
  for (std::size_t j = 0; j < lower_dim_; ++j) block[j] = 2 * (request.reference_lower[j] - point[j]);
  out.distance = 0.25 * squared_norm(block);
  out.product = dot(block, request.reference_lower);
}

void AdboWorker::add_cross_product(const Snapshot& snapshot, std::span<const double> point,
                                   std::span<const double> u, double factor, bool with_hessian,
                                   WorkCounts& work) {
  const std::span<double> hessian = with_hessian ? std::span<double>(hessian_product_) : std::span<double>();
  objective_.lower_fused(consensus_on_support(snapshot), point, u, {}, hessian, cross_product_);
  work.cross_products += 1;
  work.hessian_products += with_hessian ? 1 : 0;
  add_scaled(factor, cross_product_, upper_gradient_);
  require_finite(cross_product_, "the lower objective's cross product");
}

/// The reverse of round k (unrolled_rounds.h). The start y'_0 is a constant, so round 0 needs no Hessian
/// product.
void AdboWorker::reverse(const Request& request, const Snapshot& snapshot, RoundMessage& out) {
  const auto k = static_cast<std::size_t>(request.round);
  kernels::correct_local_adjoint(steps_, dual_adjoint_, local_adjoint_);
  copy(local_adjoint_, out.local_adjoint);
  add_cross_product(snapshot, trajectory_[k], local_adjoint_, -steps_.lower_local, k > 0, out.work);
  if (k > 0) {
    kernels::reverse_local_round(steps_, hessian_product_, request.consensus_adjoint, local_adjoint_,
                                 dual_adjoint_);
  }
  copy(dual_adjoint_, out.dual_adjoint);
  copy(upper_gradient_, out.upper_gradient);
}

/// d/dv ||y_i - y'_{i,K+1}||^2 through the worker's own K + 1 rounds, z' and phi constant.
void AdboWorker::isolated_gradient(const Request& request, const Snapshot& snapshot, RoundMessage& out) {
  const std::size_t last = trajectory_.size() - 1;
  for (std::size_t j = 0; j < lower_dim_; ++j) {
    local_adjoint_[j] = -2 * (request.reference_lower[j] - trajectory_[last][j]);
  }
  std::fill(upper_gradient_.begin(), upper_gradient_.end(), 0.0);
  for (std::size_t k = last; k-- > 0;) {
    const bool with_hessian = k > 0 && !request.frozen;
    add_cross_product(snapshot, trajectory_[k], local_adjoint_, -steps_.lower_local, with_hessian, out.work);
    if (with_hessian) kernels::reverse_isolated_round(steps_, hessian_product_, local_adjoint_);
  }
  copy(upper_gradient_, out.upper_gradient);
}

/// Definition 1: the worker's blocks, with gradients computed afresh at the master's (x_i, y_i).
void AdboWorker::measure(const Request& request, const Snapshot& snapshot, RoundMessage& out) {
  out.upper_value = upper_gradients(request.reference_upper, request.reference_lower, snapshot, gradient_);
  out.work.upper_gradients = 1;
  for (std::size_t l = 0; l < snapshot.cuts.size(); ++l) {
    add_scaled(snapshot.cut_multiplier[l], snapshot.cuts[l]->lower_local[index_], gradient_);
  }
  out.gap_lower = squared_norm(gradient_);
  out.gap_upper = 0;
  const std::size_t shift = support_.begin - local_.begin;
  for (std::size_t k = 0; k < local_.size; ++k) {
    const bool inside = k >= shift && k - shift < upper_objective_gradient_.size();
    const double entry = request.consensus_dual[k] + (inside ? upper_objective_gradient_[k - shift] : 0.0);
    out.gap_upper += entry * entry;
  }
}

}  // namespace adbo::detail
