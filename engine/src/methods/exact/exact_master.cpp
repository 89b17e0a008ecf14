#include "methods/exact/exact_master.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <utility>

#include "protocol/start_values.h"
#include "protocol/vector_math.h"

namespace adbo::detail {
namespace {

constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

/// Armijo's share of the predicted decrease, and the share of the first slope beyond which a step was short.
constexpr double kDecrease = 1e-4, kShort = 0.9;
constexpr int kMostBacktrackings = 30, kMostExpansions = 4;
constexpr double kExpansion = 4;

}  // namespace

ExactMaster::ExactMaster(const Problem& problem, const Options& options)
    : SynchronousMaster(problem),
      options_(options),
      function_(rounds()),
      quasi_newton_(problem.upper_dim(), problem.upper_lowest(), problem.upper_highest()),
      point_(problem),
      trial_(problem),
      next_trial_(problem),
      direction_(problem.upper_dim()) {
  point_.upper = upper_start(problem);
  point_.lower = lower_start(problem);
}

void ExactMaster::fill(Snapshot& draft) {
  draft.upper_consensus = point_.upper;
  draft.lower_consensus = point_.lower;
}

MethodMaster::Outcome ExactMaster::iterate(std::int64_t t) {
  if (!is_evaluated_) {
    if (const SolveFailure failure = evaluate_start()) {
      return {.ending = Ending{Termination::kSolveFailed, "at the start: " + *failure}};
    }
  }
  if (!is_converged() && !descend()) return {.ending = why_stuck(t)};
  if (is_converged()) return {.ending = Ending{}};
  return {};
}

Ending ExactMaster::why_stuck(std::int64_t t) const {
  const std::string where = "iteration " + std::to_string(t + 1) + ": ";
  if (refusal_) return {Termination::kSolveFailed, where + *refusal_};
  std::ostringstream norm;
  norm << projected_norm(point_);
  return {
      Termination::kStalled,
      where + "no further decrease along the projected arc; the projected hypergradient is " + norm.str()};
}

SolveFailure ExactMaster::evaluate_start() {
  trial_ = point_;
  if (SolveFailure failure = function_.evaluate(trial_)) return failure;
  std::swap(point_, trial_);
  is_evaluated_ = true;
  return std::nullopt;
}

double ExactMaster::projected_norm(const OuterPoint& point) const {
  return quasi_newton_.projected_norm(point.upper, point.gradient);
}

bool ExactMaster::is_converged() const {
  return projected_norm(point_) <= options_.hypergradient_tolerance * (1 + std::abs(point_.value));
}

/// One accepted step from point_; false: none was found, and point_ is as before.
bool ExactMaster::descend() {
  quasi_newton_.direction(point_.upper, point_.gradient, direction_);
  if (backtrack()) {
    expand();
    accept_trial();
    return true;
  }
  // The memory may have gone bad; the gradient alone has not.
  if (quasi_newton_.empty()) return false;
  quasi_newton_.forget();
  return descend();
}

/// The first of a falling sequence of steps that decreases F enough, into trial_ with its gradient.
bool ExactMaster::backtrack() {
  // Without curvature the gradient's length means nothing: no coordinate moves by more than 1.
  const double longest = std::abs(*std::max_element(
      direction_.begin(), direction_.end(), [](double a, double b) { return std::abs(a) < std::abs(b); }));
  double step = quasi_newton_.empty() ? std::min(1.0, 1 / longest) : 1.0;
  for (int k = 0; k < kMostBacktrackings; ++k) {
    if (!try_step(step, trial_)) {
      step *= 0.1;
      continue;
    }
    step_ = step;
    const double noise = ImplicitFunction::kValueAccuracy * (1 + std::abs(point_.value));
    if (is_enough(trial_, noise)) return true;
    // The minimizer of the parabola through F, its slope and the trial, kept off the ends.
    const double slope = slope_along(trial_, point_.gradient);
    const double curvature = trial_.value - point_.value - slope;
    step *= curvature > 0 ? std::clamp(-slope / (2 * curvature), 0.1, 0.5) : 0.5;
  }
  return false;
}

/// Goes on along the arc while F falls as steeply as it began to: such a short step would leave the
/// quasi-Newton matrix without curvature.
void ExactMaster::expand() {
  for (int k = 0; k < kMostExpansions; ++k) {
    const double first = slope_along(trial_, point_.gradient);
    if (!(first < 0) || slope_along(trial_, trial_.gradient) > kShort * first) return;
    if (!try_step(kExpansion * step_, next_trial_)) return;
    if (next_trial_.upper == trial_.upper) return;  // every coordinate has met its bound
    if (!(next_trial_.value < trial_.value) || !is_enough(next_trial_, 0)) return;
    std::swap(trial_, next_trial_);
    step_ *= kExpansion;
  }
}

/// F at P(v + step direction), and its gradient where F fell at all; false: there is no value there.
bool ExactMaster::try_step(double step, OuterPoint& trial) {
  trial.lower = point_.lower;
  trial.adjoint = point_.adjoint;
  quasi_newton_.move(point_.upper, step, direction_, trial.upper);
  const double noise = ImplicitFunction::kValueAccuracy * (1 + std::abs(point_.value));
  try {
    refusal_ = function_.evaluate_value(trial);
    if (!refusal_ && trial.value <= point_.value + noise) refusal_ = function_.differentiate(trial);
  } catch (const RoundEnded& ended) {
    if (!ended.is_non_finite()) throw;
    refusal_ = ended.outcome().incident->what;
  }
  return !refusal_;
}

/// <gradient, to - v>.
double ExactMaster::slope_along(const OuterPoint& to, std::span<const double> gradient) const {
  double sum = 0;
  for (std::size_t j = 0; j < gradient.size(); ++j) sum += gradient[j] * (to.upper[j] - point_.upper[j]);
  return sum;
}

/// Armijo's condition along the projected arc. Near the minimum the decrease drowns in the `noise` of F;
/// there a clearly smaller projected gradient counts instead.
bool ExactMaster::is_enough(const OuterPoint& trial, double noise) {
  const double slope = slope_along(trial, point_.gradient);
  if (slope < 0 && trial.value <= point_.value + kDecrease * slope) return true;
  return trial.value <= point_.value + noise && projected_norm(trial) < 0.9 * projected_norm(point_);
}

void ExactMaster::accept_trial() {
  quasi_newton_.remember(point_.upper, point_.gradient, trial_.upper, trial_.gradient);
  std::swap(point_, trial_);
}

MethodMaster::Measurement ExactMaster::stationarity_gap(Transport&) {
  const double norm = is_evaluated_ ? projected_norm(point_) : kNotMeasured;
  return {.outcome = {}, .gap = norm * norm};
}

void ExactMaster::describe(TraceRecord& record) const {
  record.upper_objective = is_evaluated_ ? point_.value : kNotMeasured;
  record.lower_objective = is_evaluated_ ? point_.lower_value : kNotMeasured;
  record.lower_distance = kNotMeasured;
}

}  // namespace adbo::detail
