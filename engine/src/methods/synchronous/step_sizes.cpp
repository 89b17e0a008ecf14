#include "methods/synchronous/step_sizes.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "adbo/random.h"
#include "protocol/vector_math.h"

namespace adbo::detail {
namespace {

/// Apart from the streams that the same seed has elsewhere.
constexpr std::uint64_t kPowerStream = 0x706f776572000000;

constexpr double kGain = 1.01;

double norm(std::span<const double> u) { return std::sqrt(squared_norm(u)); }

void normalize(std::span<double> u) {
  const double length = norm(u);
  if (length == 0) return;
  for (double& entry : u) entry /= length;
}

std::vector<double> start_direction(std::size_t dimension, std::uint64_t seed) {
  std::vector<double> direction(dimension);
  RandomStream random(seed, kPowerStream);
  for (double& entry : direction) entry = random.normal();
  return direction;
}

}  // namespace

double largest_lower_eigenvalue(Rounds& rounds, std::span<const double> upper, std::span<const double> lower,
                                std::uint64_t seed) {
  std::vector<double> direction = start_direction(lower.size(), seed);
  double largest = 0;
  for (int k = 0; k < kMostPowerIterations; ++k) {
    normalize(direction);
    rounds.ask({.hessian_product = true}, {.upper = upper, .lower = lower, .direction = direction});
    rounds.mean(&Evaluation::hessian_product, direction);
    // ||H u|| of a unit vector never exceeds the largest |eigenvalue|, and grows from one iteration to the
    // next.
    const double stretch = norm(direction);
    if (stretch <= kGain * largest || stretch == 0) return std::max(largest, stretch);
    largest = stretch;
  }
  return largest;
}

double largest_local_eigenvalue(Rounds& rounds, std::span<const double> upper, std::span<const double> lower,
                                std::uint64_t seed) {
  const std::size_t workers = rounds.problem().num_workers();
  std::vector<std::vector<double>> directions(workers, start_direction(lower.size(), seed));
  std::vector<EvaluationPoint> points;
  for (const std::vector<double>& direction : directions) {
    points.push_back({.upper = upper, .lower = lower, .direction = direction});
  }
  double largest = 0;
  for (int k = 0; k < kMostPowerIterations; ++k) {
    for (std::vector<double>& direction : directions) normalize(direction);
    rounds.ask_agents({.hessian_product = true}, points, nullptr, {});
    double stretch = 0;
    for (const std::size_t i : rounds.asked()) {
      directions[i] = rounds.answer(i).hessian_product;
      stretch = std::max(stretch, norm(directions[i]));
    }
    if (stretch <= kGain * largest) return std::max(largest, stretch);
    largest = stretch;
  }
  return largest;
}

void StepSizes::settle(Rounds& rounds, std::span<const double> upper, std::span<const double> lower) {
  if (lower_ == 0) {
    largest_eigenvalue_ = curvature_ == StepCurvature::kMean
                              ? largest_lower_eigenvalue(rounds, upper, lower, options_.seed)
                              : largest_local_eigenvalue(rounds, upper, lower, options_.seed);
    lower_ = largest_eigenvalue_ > 0 ? 1 / largest_eigenvalue_ : 1;
    if (curvature_ == StepCurvature::kTracked) lower_ /= 2;
  }
  if (adjoint_ == 0) adjoint_ = lower_;
}

void StepSizes::see_product(std::span<const double> direction, std::span<const double> product) {
  if (largest_eigenvalue_ == 0) return;
  const double length = norm(direction), seen = norm(product);
  if (!(seen > largest_eigenvalue_ * length) || length == 0) return;
  largest_eigenvalue_ = seen / length;
  lower_ = 1 / largest_eigenvalue_;
  if (options_.step_adjoint == 0) adjoint_ = lower_;
}

double StepSizes::decay(std::int64_t t) const {
  return options_.step_decay == 0 ? 1 : std::pow(1 + static_cast<double>(t), -options_.step_decay);
}

}  // namespace adbo::detail
