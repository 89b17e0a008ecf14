#include "adbo/kernels/fit.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <utility>

#include "adbo/kernels/secant_pairs.h"

namespace adbo::kernels {
namespace {

using Vector = std::vector<double>;

// Four partial sums in a fixed order: the same bits whatever the alignment of the operands.
double dot(std::span<const double> a, std::span<const double> b) {
  double sum[4] = {};
  std::size_t i = 0;
  for (; i + 4 <= a.size(); i += 4) {
    for (std::size_t j = 0; j < 4; ++j) sum[j] += a[i + j] * b[i + j];
  }
  for (; i < a.size(); ++i) sum[0] += a[i] * b[i];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

double norm(std::span<const double> a) { return std::sqrt(dot(a, a)); }

void add_scaled(std::span<double> a, double factor, std::span<const double> b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += factor * b[i];
}

/// A point with everything known about it.
struct Point {
  explicit Point(std::size_t dimension) : w(dimension), gradient(dimension) {}

  Vector w, gradient;
  double value = std::numeric_limits<double>::quiet_NaN();
};

/// The function, counted.
class Objective {
 public:
  Objective(const ValueAndGradient& function, const HessianProduct& hessian, int max_evaluations)
      : function_(function), hessian_(hessian), max_evaluations_(max_evaluations) {}

  [[nodiscard]] int evaluations() const { return evaluations_; }
  [[nodiscard]] int remaining() const { return std::max(0, max_evaluations_ - evaluations_); }
  [[nodiscard]] bool has_hessian() const { return static_cast<bool>(hessian_); }

  /// Value and gradient at point.w; whether all of it is finite.
  bool evaluate(Point& point) {
    ++evaluations_;
    point.value = function_(point.w, point.gradient);
    return std::isfinite(point.value) && std::isfinite(dot(point.gradient, point.gradient));
  }
  void hessian_product(std::span<const double> w, std::span<const double> u, std::span<double> out) {
    ++evaluations_;
    hessian_(w, u, out);
  }

 private:
  const ValueAndGradient& function_;
  const HessianProduct& hessian_;
  int max_evaluations_;
  int evaluations_ = 0;
};

enum class Outcome { kMoved, kStalled, kUnbounded, kNotFinite, kEvaluationLimit };

/// How far two values may differ and still count as equal: the rounding errors of a sum of many terms.
double value_noise(double value) { return 1e-14 * std::abs(value); }

/// Finds a step along a descent direction that satisfies the strong Wolfe conditions, and moves there.
///
/// Near the minimum the decrease drowns in the rounding of the value; then the decrease is judged by the
/// slopes (the approximate Wolfe conditions of Hager and Zhang, 2005), which stay accurate.
class LineSearch {
 public:
  explicit LineSearch(std::size_t dimension) : trial_(dimension), left_point_(dimension) {}

  Outcome move(Objective& objective, Point& point, std::span<const double> direction, double first_step);

 private:
  static constexpr double kDecrease = 1e-4;  // share of the predicted decrease that is asked for
  static constexpr double kCurvature = 0.9;  // share of the first slope that may be left
  static constexpr double kExpansion = 4;
  static constexpr int kMaxTrials = 80;
  // A decrease beyond this multiple of 1 + |value|, with the slope no flatter than at the start, is without
  // bound.
  static constexpr double kUnboundedDecrease = 1e12;

  struct End {
    double step = 0, value = 0, slope = 0;
  };

  [[nodiscard]] bool enough_decrease(const End& trial) const;
  [[nodiscard]] bool without_bound(const End& trial) const;
  [[nodiscard]] double next_step() const;

  Point trial_;
  Point left_point_;  // the point at left_, where left_.step > 0
  End start_, left_, right_;
  bool has_right_ = false, right_finite_ = false;
};

bool LineSearch::enough_decrease(const End& trial) const {
  if (trial.value <= start_.value + kDecrease * trial.step * start_.slope) return true;
  return trial.value <= start_.value + value_noise(start_.value) &&
         trial.slope <= (2 * kDecrease - 1) * start_.slope;
}

bool LineSearch::without_bound(const End& trial) const {
  return trial.slope <= start_.slope &&
         start_.value - trial.value > kUnboundedDecrease * (1 + std::abs(start_.value));
}

double LineSearch::next_step() const {
  if (!has_right_) return kExpansion * left_.step;
  const double width = right_.step - left_.step;
  if (!right_finite_) return left_.step + 0.1 * width;
  // Minimizer of the cubic through both values and slopes, kept off the ends so that the bracket shrinks.
  const double secant = (right_.value - left_.value) / width;
  const double d = left_.slope + right_.slope - 3 * secant;
  const double square = d * d - left_.slope * right_.slope;
  double share = 0.5;
  if (square >= 0) {
    const double root = std::sqrt(square);
    const double cubic = 1 - (right_.slope + root - d) / (right_.slope - left_.slope + 2 * root);
    if (std::isfinite(cubic)) share = std::clamp(cubic, 0.1, 0.9);
  }
  return left_.step + share * width;
}

// Invariant: at left_ the decrease is enough and the slope too steep downwards; right_, once there is one,
// has too little decrease, too steep an upward slope or no finite value. Between them lies a step that
// satisfies both conditions.
Outcome LineSearch::move(Objective& objective, Point& point, std::span<const double> direction,
                         double first_step) {
  start_ = left_ = {.step = 0, .value = point.value, .slope = dot(point.gradient, direction)};
  has_right_ = right_finite_ = false;
  bool out_of_evaluations = false;
  double step = first_step;
  double previous_width = std::numeric_limits<double>::infinity();
  for (int trials = 0; trials < kMaxTrials; ++trials) {
    if (objective.remaining() == 0) {
      out_of_evaluations = true;
      break;
    }
    trial_.w = point.w;
    add_scaled(trial_.w, step, direction);
    if (trial_.w == (left_.step > 0 ? left_point_.w : point.w)) break;  // no other point is representable
    const bool finite = objective.evaluate(trial_);
    if (trial_.value == -std::numeric_limits<double>::infinity()) return Outcome::kUnbounded;
    const End end = {.step = step, .value = trial_.value, .slope = dot(trial_.gradient, direction)};
    if (!finite || !enough_decrease(end) || end.value > left_.value + value_noise(left_.value)) {
      right_ = end;
      has_right_ = true;
      right_finite_ = finite;
    } else if (std::abs(end.slope) <= kCurvature * -start_.slope) {
      std::swap(point, trial_);
      return Outcome::kMoved;
    } else if (end.slope > 0) {
      right_ = end;
      has_right_ = right_finite_ = true;
    } else {
      left_ = end;
      std::swap(left_point_, trial_);
      if (without_bound(end)) {
        std::swap(point, left_point_);
        return Outcome::kUnbounded;
      }
    }
    step = next_step();
    const double width = has_right_ ? right_.step - left_.step : previous_width;
    if (has_right_ && right_finite_ && width > 0.66 * previous_width) step = left_.step + 0.5 * width;
    previous_width = width;
  }
  if (left_.step > 0 && left_.value < start_.value) {  // some progress, if not what was asked for
    std::swap(point, left_point_);
    return Outcome::kMoved;
  }
  if (out_of_evaluations) return Outcome::kEvaluationLimit;
  return has_right_ && !right_finite_ ? Outcome::kNotFinite : Outcome::kStalled;
}

/// Notices an iteration that only wanders within the rounding of the function.
class Progress {
 public:
  /// Whether one of the last kPatience points had a lower value or a smaller gradient than all before.
  bool made(double value, double gradient_norm) {
    const bool better =
        value < best_value_ - value_noise(best_value_) || gradient_norm < 0.99 * best_gradient_norm_;
    best_value_ = std::min(best_value_, value);
    best_gradient_norm_ = std::min(best_gradient_norm_, gradient_norm);
    idle_ = better ? 0 : idle_ + 1;
    return idle_ < kPatience;
  }

 private:
  static constexpr int kPatience = 20;
  double best_value_ = std::numeric_limits<double>::max();
  double best_gradient_norm_ = std::numeric_limits<double>::max();
  int idle_ = 0;
};

/// Below, the change of the gradient is rounding.
constexpr double kLeastCosine = 1e-12;

class Minimizer {
 public:
  Minimizer(std::span<double> w, const ValueAndGradient& function, const HessianProduct& hessian,
            const FitOptions& options)
      : w_(w),
        options_(options),
        objective_(function, hessian, std::max(1, options.max_evaluations)),
        point_(w.size()),
        previous_(w.size()),
        direction_(w.size()),
        line_search_(w.size()),
        quasi_newton_(w.size(), static_cast<std::size_t>(std::max(1, options.memory)), kLeastCosine) {
    std::copy(w.begin(), w.end(), point_.w.begin());
  }

  FitResult run() {
    if (!objective_.evaluate(point_)) return result(FitStatus::kNotFinite);
    FitStatus status = lbfgs();
    const bool unfinished = status == FitStatus::kStalled || status == FitStatus::kEvaluationLimit;
    if (unfinished && objective_.has_hessian()) status = newton();
    return result(status);
  }

 private:
  [[nodiscard]] bool converged() const { return norm(point_.gradient) <= options_.gradient_tolerance; }

  FitResult result(FitStatus status) {
    std::copy(point_.w.begin(), point_.w.end(), w_.begin());
    return {.status = status,
            .value = point_.value,
            .gradient_norm = norm(point_.gradient),
            .evaluations = objective_.evaluations()};
  }

  static FitStatus status_of(Outcome outcome) {
    switch (outcome) {
      case Outcome::kUnbounded:
        return FitStatus::kUnbounded;
      case Outcome::kNotFinite:
        return FitStatus::kNotFinite;
      case Outcome::kEvaluationLimit:
        return FitStatus::kEvaluationLimit;
      case Outcome::kMoved:
      case Outcome::kStalled:
        break;
    }
    return FitStatus::kStalled;
  }

  /// Until convergence, a stall, or (where Newton could take over) half of the evaluations.
  FitStatus lbfgs() {
    const int reserve = objective_.has_hessian() ? options_.max_evaluations / 2 : 0;
    Progress progress;
    while (!converged()) {
      if (objective_.remaining() <= reserve) return FitStatus::kEvaluationLimit;
      if (!progress.made(point_.value, norm(point_.gradient))) return FitStatus::kStalled;
      const bool steepest = quasi_newton_.empty();
      std::transform(point_.gradient.begin(), point_.gradient.end(), direction_.begin(), std::negate<>());
      quasi_newton_.apply(direction_);
      if (!(dot(point_.gradient, direction_) < 0)) {  // the memory has gone bad, in rounding or overflow
        if (steepest) return FitStatus::kStalled;
        quasi_newton_.clear();
        continue;
      }
      previous_.w = point_.w;
      previous_.gradient = point_.gradient;
      const double first_step = steepest ? std::min(1.0, 1 / norm(point_.gradient)) : 1.0;
      const Outcome outcome = line_search_.move(objective_, point_, direction_, first_step);
      if (outcome == Outcome::kMoved) {
        quasi_newton_.remember(previous_.w, previous_.gradient, point_.w, point_.gradient);
      } else if (outcome == Outcome::kStalled && !steepest) {
        quasi_newton_.clear();
      } else {
        return status_of(outcome);
      }
    }
    return FitStatus::kConverged;
  }

  FitStatus newton() {
    Progress progress;
    while (!converged()) {
      if (objective_.remaining() == 0) return FitStatus::kEvaluationLimit;
      if (!progress.made(point_.value, norm(point_.gradient))) return FitStatus::kStalled;
      newton_direction();
      Outcome outcome = Outcome::kStalled;
      if (dot(point_.gradient, direction_) < 0)
        outcome = line_search_.move(objective_, point_, direction_, 1.0);
      if (outcome == Outcome::kStalled) outcome = reduce_gradient();
      if (outcome != Outcome::kMoved) return status_of(outcome);
    }
    return FitStatus::kConverged;
  }

  /// direction = -H^-1 gradient by truncated conjugate gradients; where those meet no positive curvature at
  /// once, the steepest descent.
  void newton_direction() {
    const double gradient_norm = norm(point_.gradient);
    previous_.gradient = point_.gradient;
    for (double& g : previous_.gradient) g = -g;
    std::fill(direction_.begin(), direction_.end(), 0.0);
    const auto product = [this](std::span<const double> u, std::span<double> out) {
      objective_.hessian_product(point_.w, u, out);
    };
    // Two evaluations stay for the residual and for the step itself.
    const int most = std::max(0, std::min(objective_.remaining() - 2, 10 * static_cast<int>(w_.size())));
    const double forcing = std::min(0.01, std::sqrt(gradient_norm));
    if (most > 0) conjugate_gradients(product, previous_.gradient, direction_, forcing, most);
    if (dot(direction_, direction_) == 0) direction_ = previous_.gradient;
  }

  /// The last digits: values no longer tell points apart, gradients do. Takes the Newton step if it makes the
  /// gradient smaller without making the value larger by more than its rounding.
  Outcome reduce_gradient() {
    const double gradient_norm = norm(point_.gradient);
    for (double step = 1; step > 1e-3; step /= 2) {
      if (objective_.remaining() == 0) return Outcome::kEvaluationLimit;
      previous_.w = point_.w;
      add_scaled(previous_.w, step, direction_);
      const bool finite = objective_.evaluate(previous_);
      const bool not_worse = previous_.value <= point_.value + 100 * value_noise(point_.value);
      if (finite && not_worse && norm(previous_.gradient) < 0.95 * gradient_norm) {
        std::swap(point_, previous_);
        return Outcome::kMoved;
      }
    }
    return Outcome::kStalled;
  }

  std::span<double> w_;
  FitOptions options_;
  Objective objective_;
  Point point_, previous_;
  Vector direction_;
  LineSearch line_search_;
  SecantPairs quasi_newton_;
};

}  // namespace

std::string_view to_string(FitStatus status) {
  switch (status) {
    case FitStatus::kConverged:
      return "converged";
    case FitStatus::kEvaluationLimit:
      return "evaluation limit";
    case FitStatus::kStalled:
      return "stalled";
    case FitStatus::kUnbounded:
      return "unbounded";
    case FitStatus::kNotFinite:
      return "not finite";
  }
  return "unknown";
}

FitResult fit(std::span<double> w, const ValueAndGradient& function, const HessianProduct& hessian,
              const FitOptions& options) {
  return Minimizer(w, function, hessian, options).run();
}

ConjugateGradients::ConjugateGradients(std::size_t dimension)
    : residual_(dimension), search_(dimension), image_(dimension) {}

LinearSolveResult ConjugateGradients::solve(const LinearProduct& product, std::span<const double> b,
                                            std::span<double> x, double tolerance, int max_iterations) {
  LinearSolveResult result;
  std::copy(b.begin(), b.end(), residual_.begin());
  const double b_norm = norm(residual_);
  if (b_norm == 0) {
    std::fill(x.begin(), x.end(), 0.0);
    result.converged = true;
    return result;
  }
  const double target = tolerance * b_norm;
  const auto true_residual = [&] {
    product(x, image_);
    for (std::size_t i = 0; i < b.size(); ++i) residual_[i] = b[i] - image_[i];
    return norm(residual_);
  };
  const bool from_zero = std::all_of(x.begin(), x.end(), [](double v) { return v == 0; });
  result.residual_norm = from_zero ? b_norm : true_residual();
  double verified = std::numeric_limits<double>::infinity();

  // The recursion's residual drifts away from the true one, so each round ends with the latter; a round that
  // did not halve it has met the limit of rounding.
  while (result.residual_norm > target && result.residual_norm < 0.5 * verified &&
         result.iterations < max_iterations && !result.non_positive_curvature) {
    verified = result.residual_norm;
    search_ = residual_;
    double square = dot(residual_, residual_);
    while (square > target * target && result.iterations < max_iterations) {
      product(search_, image_);
      const double curvature = dot(search_, image_);
      if (!(curvature > 0)) {  // a curvature that is not a number ends the round, too
        result.non_positive_curvature = curvature <= 0;
        break;
      }
      const double step = square / curvature;
      add_scaled(x, step, search_);
      add_scaled(residual_, -step, image_);
      ++result.iterations;
      const double next_square = dot(residual_, residual_);
      const double ratio = next_square / square;
      square = next_square;
      for (std::size_t i = 0; i < b.size(); ++i) search_[i] = residual_[i] + ratio * search_[i];
    }
    result.residual_norm = true_residual();
  }
  result.converged = result.residual_norm <= target;
  return result;
}

LinearSolveResult conjugate_gradients(const LinearProduct& product, std::span<const double> b,
                                      std::span<double> x, double tolerance, int max_iterations) {
  return ConjugateGradients(b.size()).solve(product, b, x, tolerance, max_iterations);
}

}  // namespace adbo::kernels
