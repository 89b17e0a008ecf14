#include "methods/running_estimates/curvature_schedule.h"

#include <algorithm>
#include <cmath>

#include "methods/running_estimates/upper_ownership.h"

namespace adbo::detail {
namespace {

/// Most answers between two blocks: as many as keep their cost, rows b^2, within that of the gradients, rows
/// b per answer.
std::int64_t longest_interval(std::size_t block_size) {
  constexpr std::size_t kBlockPerAnswer = 8;
  return static_cast<std::int64_t>(std::max<std::size_t>(1, block_size / kBlockPerAnswer));
}

}  // namespace

/// Weights per training row change a block by a bounded factor; shared coefficients may by any.
CurvatureSchedule::CurvatureSchedule(const Problem& problem, std::size_t worker)
    : block_size_(problem.worker(worker).lower_curvature_size()),
      sent_at_(owns_upper_coordinates(problem) ? 0 : problem.support(worker).size) {}

bool CurvatureSchedule::is_due(std::span<const double> x) {
  if (block_size_ == 0) return false;
  const bool due = answers_since_ < 0 || answers_since_ + 1 >= longest_interval(block_size_) || !is_near(x);
  answers_since_ = due ? 0 : answers_since_ + 1;
  if (due && !sent_at_.empty()) std::copy(x.begin(), x.end(), sent_at_.begin());
  return due;
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
