#include "methods/fednest/fednest_worker.h"

#include <algorithm>

#include "protocol/count_work.h"
#include "protocol/require_finite.h"
#include "protocol/vector_math.h"

namespace adbo::detail {
namespace {

/// Adds the work of one evaluation that looked at so many samples.
void count_evaluation(WorkCounts& total, WorkCounts work, const SampleCounts& taken) {
  count_samples(work, taken);
  add_work(total, work);
}

}  // namespace

FedNestWorker::FedNestWorker(const Problem& problem, std::size_t index,
                             const std::shared_ptr<const BatchSampler>& sampler)
    : objective_(problem.worker(index)),
      index_(index),
      support_(problem.support(index)),
      has_slope_(objective_.upper_depends_on_x()),
      sampler_(sampler),
      evaluations_(problem, index, 0),
      gradient_(problem.lower_dim()),
      start_gradient_(problem.lower_dim()),
      adjoint_(problem.lower_dim()),
      product_(problem.lower_dim()),
      slope_(has_slope_ ? support_.size : 0),
      start_slope_(slope_.size()),
      cross_(support_.size),
      direction_x_(support_.size) {}

void FedNestWorker::size(RoundMessage& message) const {
  evaluations_.size(message);
  message.evaluation.local_lower.assign(gradient_.size(), 0);
  message.evaluation.local_upper.assign(support_.size, 0);
}

void FedNestWorker::round(const Request& request, const Snapshot& snapshot, const UpdateMessage& previous,
                          RoundMessage& out) {
  switch (request.local.variable) {
    case LocalSteps::Variable::kNone:
      evaluations_.round(request, snapshot, previous, out);
      return;
    case LocalSteps::Variable::kLower:
      out.work = {};
      step_lower(request, out);
      require_finite(out.evaluation.local_lower, "y after local steps");
      return;
    case LocalSteps::Variable::kUpper:
      out.work = {};
      if (request.local.is_corrected) {
        step_upper(request, out);
      } else {
        step_upper_alone(request, out);
      }
      require_finite(out.evaluation.local_upper, "x after local steps");
      return;
  }
}

/// FedInn: y_i <- y_i - step d with d = grad g_i(x, y_i) - grad g_i(x, y) + q, on one mini-batch, or without
/// correction d = grad g_i(x, y_i). The first corrected step goes along q itself.
void FedNestWorker::step_lower(const Request& request, RoundMessage& out) {
  const LocalSteps& local = request.local;
  const std::span<const double> x = request.point.upper.subspan(support_.begin, support_.size);
  const std::span<const double> start = request.point.lower;
  std::vector<double>& y = out.evaluation.local_lower;
  std::copy(start.begin(), start.end(), y.begin());
  const bool is_exact = sampler_->lower_count(index_) == 1;
  for (std::int64_t k = 0; k < local.count; ++k) {
    require_wanted();
    const Batch batch = sampler_->lower(index_, {.lower = local.first_draw + static_cast<std::uint64_t>(k)});
    if (!local.is_corrected) {
      lower_gradient(batch, x, y, gradient_, out.work);
      add_scaled(-local.step, gradient_, y);
      continue;
    }
    if (k > 0) {
      lower_gradient(batch, x, y, gradient_, out.work);
      if (k == 1 || !is_exact) lower_gradient(batch, x, start, start_gradient_, out.work);
      add_scaled(-local.step, gradient_, y);
      add_scaled(local.step, start_gradient_, y);
    }
    add_scaled(-local.step, local.correction, y);
  }
}

/// FedOut: x_i <- x_i - step d with d = grad_x G_i(x_i, y) - grad_x G_i(x, y) + h.
void FedNestWorker::step_upper(const Request& request, RoundMessage& out) {
  const LocalSteps& local = request.local;
  const std::span<const double> start = request.point.upper.subspan(support_.begin, support_.size);
  const std::span<const double> correction = local.correction.subspan(support_.begin, support_.size);
  std::vector<double>& x = out.evaluation.local_upper;
  std::copy(start.begin(), start.end(), x.begin());
  const bool is_exact = sampler_->upper_count(index_) == 1;
  for (std::int64_t k = 0; k < local.count; ++k) {
    require_wanted();
    if (k > 0 && has_slope_) {
      const Batch batch =
          sampler_->upper(index_, {.upper = local.first_draw + static_cast<std::uint64_t>(k)});
      upper_slope(batch, x, request.point.lower, slope_, out.work);
      if (k == 1 || !is_exact) upper_slope(batch, start, request.point.lower, start_slope_, out.work);
      add_scaled(-local.step, slope_, x);
      add_scaled(local.step, start_slope_, x);
    }
    add_scaled(-local.step, correction, x);
  }
}

/// The light variant: every step along the worker's own hypergradient.
void FedNestWorker::step_upper_alone(const Request& request, RoundMessage& out) {
  const LocalSteps& local = request.local;
  const std::span<const double> start = request.point.upper.subspan(support_.begin, support_.size);
  std::vector<double>& x = out.evaluation.local_upper;
  std::copy(start.begin(), start.end(), x.begin());
  const auto draws = static_cast<std::uint64_t>(local.adjoint_terms) + 1;
  for (std::int64_t k = 0; k < local.count; ++k) {
    require_wanted();
    local_hypergradient(local, local.first_draw + static_cast<std::uint64_t>(k) * draws, x,
                        request.point.lower, out.work);
    add_scaled(-local.step, direction_x_, x);
  }
}

void FedNestWorker::local_hypergradient(const LocalSteps& local, std::uint64_t draw,
                                        std::span<const double> x, std::span<const double> y,
                                        WorkCounts& work) {
  upper_slope(sampler_->upper(index_, {.upper = draw}), x, y, slope_, work);  // and gradient_ = grad_y G_i
  for (std::size_t k = 0; k < adjoint_.size(); ++k) adjoint_[k] = local.adjoint_step * gradient_[k];
  for (std::int64_t j = 1; j < local.adjoint_terms; ++j) {
    require_wanted();
    const Batch batch = sampler_->lower(index_, {.lower = draw + static_cast<std::uint64_t>(j)});
    objective_.lower_batch(batch, x, y, adjoint_, {}, product_, {});
    count_evaluation(work, {.hessian_products = 1},
                     {.upper = 0, .lower = batch.range(objective_.sample_counts().lower).size()});
    for (std::size_t k = 0; k < adjoint_.size(); ++k) {
      adjoint_[k] += local.adjoint_step * (gradient_[k] - product_[k]);
    }
  }
  const Batch batch =
      sampler_->lower(index_, {.lower = draw + static_cast<std::uint64_t>(local.adjoint_terms)});
  objective_.lower_batch(batch, x, y, adjoint_, {}, {}, cross_);
  count_evaluation(work, {.cross_products = 1},
                   {.upper = 0, .lower = batch.range(objective_.sample_counts().lower).size()});
  for (std::size_t j = 0; j < cross_.size(); ++j) direction_x_[j] = (has_slope_ ? slope_[j] : 0) - cross_[j];
}

void FedNestWorker::lower_gradient(const Batch& batch, std::span<const double> x, std::span<const double> y,
                                   std::span<double> out, WorkCounts& work) {
  if (batch.is_everything()) {
    objective_.lower(x, y, out);
  } else {
    objective_.lower_batch(batch, x, y, {}, out, {}, {});
  }
  require_finite(out, "the lower objective's gradient");
  count_evaluation(work, {.lower_gradients = 1},
                   {.upper = 0, .lower = batch.range(objective_.sample_counts().lower).size()});
}

void FedNestWorker::upper_slope(const Batch& batch, std::span<const double> x, std::span<const double> y,
                                std::span<double> out, WorkCounts& work) {
  if (batch.is_everything()) {
    objective_.upper(x, y, out, gradient_);
  } else {
    objective_.upper_batch(batch, x, y, out, gradient_);
  }
  require_finite(out, "the upper objective's gradient");
  require_finite(gradient_, "the upper objective's gradient");
  count_evaluation(work, {.upper_gradients = 1},
                   {.upper = batch.range(objective_.sample_counts().upper).size(), .lower = 0});
}

}  // namespace adbo::detail
