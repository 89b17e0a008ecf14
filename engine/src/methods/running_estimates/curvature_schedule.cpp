#include "methods/running_estimates/curvature_schedule.h"

#include <algorithm>
#include <cmath>

namespace adbo::detail {
namespace {

/// Most answers from one sending to the next: as many as keep the cost of a block, rows b^2, within that of
/// the gradients, rows b per answer; a diagonal costs no more than a gradient.
std::int64_t longest_interval(const CurvatureForm& form) {
  constexpr std::size_t kBlockPerAnswer = 8;
  if (form.kind == CurvatureForm::Kind::kDiagonal) return kBlockPerAnswer;
  return static_cast<std::int64_t>(std::max<std::size_t>(1, form.size / kBlockPerAnswer));
}

}  // namespace

CurvatureSchedule::CurvatureSchedule(const CurvaturePlan& plan, const Problem& problem, std::size_t worker)
    : form_(plan.form), sent_at_(plan.follows_upper ? problem.support(worker).size : 0) {}

bool CurvatureSchedule::is_due(std::span<const double> x) const {
  if (form_.kind == CurvatureForm::Kind::kNone) return false;
  return answers_since_ < 0 || answers_since_ + 1 >= longest_interval(form_) || !is_near(x);
}

void CurvatureSchedule::note_answer(std::span<const double> x, bool has_curvature) {
  if (form_.kind == CurvatureForm::Kind::kNone) return;
  answers_since_ = has_curvature ? 0 : answers_since_ + 1;
  if (has_curvature && !sent_at_.empty()) std::copy(x.begin(), x.end(), sent_at_.begin());
}

void CurvatureSchedule::compute(WorkerObjective& objective, std::span<const double> x,
                                std::span<const double> y, std::span<double> out) const {
  if (form_.kind == CurvatureForm::Kind::kBlock) {
    objective.lower_curvature(x, y, out);
  } else {
    objective.lower_curvature_diagonal(x, y, out);
  }
}

/// A coefficient exp(x_j) changes by less than a factor of e^(1/2) within this distance, so that a step
/// preconditioned by the old block is at most that much too long.
bool CurvatureSchedule::is_near(std::span<const double> x) const {
  constexpr double kNear = 0.5;
  for (std::size_t j = 0; j < sent_at_.size(); ++j) {
    if (std::abs(x[j] - sent_at_[j]) > kNear) return false;
  }
  return true;
}

}  // namespace adbo::detail
