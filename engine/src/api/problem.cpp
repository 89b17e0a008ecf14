#include "adbo/problem.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "adbo/random.h"
#include "protocol/vector_math.h"

namespace adbo {

Problem::Problem(std::size_t upper_dim, std::size_t lower_dim)
    : upper_dim_(upper_dim), lower_dim_(lower_dim) {}
Problem::~Problem() = default;
Problem::Problem(Problem&&) noexcept = default;
Problem& Problem::operator=(Problem&&) noexcept = default;

void Problem::add_worker(std::unique_ptr<WorkerObjective> objective) {
  if (!objective) throw std::invalid_argument("Problem::add_worker: the objective is null");
  supports_.push_back(objective->upper_support(upper_dim_));
  workers_.push_back(std::move(objective));
}

void Problem::keep_within_bounds(std::span<double> upper) const {
  for (double& v : upper) v = std::clamp(v, upper_lowest_, upper_highest_);
}

void Problem::set_upper_bounds(double lowest, double highest) {
  upper_lowest_ = lowest;
  upper_highest_ = highest;
}

namespace {

std::string size_mismatch(const std::string& what, std::size_t got, const std::string& expected) {
  return "start point: " + what + " has " + std::to_string(got) + " entries, expected " + expected;
}

}  // namespace

Status Problem::validate() const {
  const auto invalid = [](std::string message) {
    return Status(StatusCode::kInvalidProblem, std::move(message));
  };
  if (upper_dim_ < 1) return invalid("the upper variable has dimension 0; at least 1 is needed");
  if (lower_dim_ < 1) return invalid("the lower variable has dimension 0; at least 1 is needed");
  if (workers_.empty()) return invalid("the problem has no worker; at least 1 is needed");
  if (!(upper_lowest_ <= upper_highest_)) {
    return invalid("upper bounds: lowest " + std::to_string(upper_lowest_) + " exceeds highest " +
                   std::to_string(upper_highest_));
  }
  for (std::size_t i = 0; i < supports_.size(); ++i) {
    const UpperSupport& s = supports_[i];
    if (common_term_ != nullptr && s.size != upper_dim_) {
      return invalid("worker " + std::to_string(i) + ": its support is not all of the upper variable's " +
                     std::to_string(upper_dim_) + " coordinates, which a common term asks for");
    }
    if (s.begin > upper_dim_ || s.size > upper_dim_ - s.begin) {
      return invalid("worker " + std::to_string(i) + ": its support [" + std::to_string(s.begin) + ", " +
                     std::to_string(s.begin + s.size) + ") leaves the upper variable's [0, " +
                     std::to_string(upper_dim_) + ")");
    }
  }
  const auto fits = [](std::size_t size, std::size_t wanted) { return size == 0 || size == wanted; };
  const std::string n = std::to_string(upper_dim_), m = std::to_string(lower_dim_);
  if (!fits(start_.upper.size(), upper_dim_)) return invalid(size_mismatch("upper", start_.upper.size(), n));
  if (!fits(start_.lower.size(), lower_dim_)) return invalid(size_mismatch("lower", start_.lower.size(), m));
  if (!fits(start_.consensus_dual.size(), upper_dim_)) {
    return invalid(size_mismatch("consensus_dual", start_.consensus_dual.size(), n));
  }
  if (!fits(start_.lower_local.size(), workers_.size())) {
    return invalid(size_mismatch("lower_local", start_.lower_local.size(), std::to_string(workers_.size())));
  }
  for (std::size_t i = 0; i < start_.lower_local.size(); ++i) {
    if (!fits(start_.lower_local[i].size(), lower_dim_)) {
      return invalid(
          size_mismatch("lower_local of worker " + std::to_string(i), start_.lower_local[i].size(), m));
    }
  }
  return {};
}

double CommonTermCheck::worst() const { return std::max({curvature, cross, objective}); }

double DerivativeCheck::worst() const {
  return std::max({upper_grad_x, upper_grad_y, lower_grad_x, lower_grad_y, hessian, cross});
}

namespace {

using detail::dot;

std::vector<double> moved(std::span<const double> point, std::span<const double> direction, double step) {
  std::vector<double> result(point.begin(), point.end());
  for (std::size_t k = 0; k < result.size(); ++k) result[k] += step * direction[k];
  return result;
}

std::vector<double> random_direction(std::size_t size, RandomStream& random) {
  std::vector<double> direction(size);
  for (double& entry : direction) entry = random.normal();
  return direction;
}

void keep_worst(double& worst, double claimed, double measured) {
  const double scale = std::max({std::abs(claimed), std::abs(measured), 1e-8});
  const double error = std::abs(claimed - measured) / scale;
  worst = std::isfinite(error) ? std::max(worst, error) : std::numeric_limits<double>::infinity();
}

/// A central difference of `function` along a unit-free step.
template <class Function>
double central_difference(const Function& function, double step) {
  return (function(step) - function(-step)) / (2 * step);
}

}  // namespace

CommonTermCheck check_common_term(CommonTerm& term, WorkerObjective& objective, std::span<const double> x,
                                  std::span<const double> y, int directions, std::uint64_t seed) {
  constexpr double kStep = 1e-5;
  CommonTermCheck check;
  RandomStream random(seed, 0);
  std::vector<double> curvature(y.size()), cross(x.size()), of_objective(x.size()), gradient(y.size());
  term.curvature(x, y, curvature);
  for (int d = 0; d < directions; ++d) {
    const auto dx = random_direction(x.size(), random);
    const auto dy = random_direction(y.size(), random);
    const auto u = random_direction(y.size(), random);
    const auto slope_along = [&](std::span<const double> at_x, std::span<const double> at_y) {
      term.gradient(at_x, at_y, gradient);
      return dot(gradient, u);
    };
    double along_curvature = 0;
    for (std::size_t k = 0; k < y.size(); ++k) along_curvature += u[k] * curvature[k] * dy[k];
    keep_worst(check.curvature, along_curvature,
               central_difference([&](double s) { return slope_along(x, moved(y, dy, s)); }, kStep));
    term.cross_product(x, y, u, cross);
    keep_worst(check.cross, dot(cross, dx),
               central_difference([&](double s) { return slope_along(moved(x, dx, s), y); }, kStep));
    objective.lower_cross_product(x, y, u, of_objective);
    keep_worst(check.objective, dot(cross, dx), dot(of_objective, dx));
  }
  return check;
}

DerivativeCheck check_derivatives(WorkerObjective& objective, std::span<const double> x,
                                  std::span<const double> y, int directions, std::uint64_t seed) {
  constexpr double kStep = 1e-5;
  DerivativeCheck check;
  RandomStream random(seed, 0);
  std::vector<double> grad_x(objective.upper_depends_on_x() ? x.size() : 0), grad_y(y.size()),
      gradient(y.size());
  std::vector<double> scratch_x(grad_x.size()), scratch_y(y.size());
  objective.upper(x, y, grad_x, grad_y);
  objective.lower(x, y, gradient);
  std::vector<double> hessian(y.size()), cross(x.size()), slope(x.size());
  objective.lower_slope(x, y, slope);
  for (int d = 0; d < directions; ++d) {
    const auto dx = random_direction(x.size(), random);
    const auto dy = random_direction(y.size(), random);
    const auto u = random_direction(y.size(), random);
    keep_worst(
        check.upper_grad_y, dot(grad_y, dy),
        central_difference(
            [&](double s) { return objective.upper(x, moved(y, dy, s), scratch_x, scratch_y); }, kStep));
    keep_worst(
        check.lower_grad_y, dot(gradient, dy),
        central_difference([&](double s) { return objective.lower(x, moved(y, dy, s), scratch_y); }, kStep));
    if (!grad_x.empty()) {
      keep_worst(
          check.upper_grad_x, dot(grad_x, dx),
          central_difference(
              [&](double s) { return objective.upper(moved(x, dx, s), y, scratch_x, scratch_y); }, kStep));
    }
    keep_worst(
        check.lower_grad_x, dot(slope, dx),
        central_difference([&](double s) { return objective.lower(moved(x, dx, s), y, scratch_y); }, kStep));
    objective.lower_hessian_product(x, y, u, hessian);
    keep_worst(check.hessian, dot(hessian, dy),
               central_difference(
                   [&](double s) {
                     objective.lower(x, moved(y, dy, s), scratch_y);
                     return dot(scratch_y, u);
                   },
                   kStep));
    objective.lower_cross_product(x, y, u, cross);
    keep_worst(check.cross, dot(cross, dx),
               central_difference(
                   [&](double s) {
                     objective.lower(moved(x, dx, s), y, scratch_y);
                     return dot(scratch_y, u);
                   },
                   kStep));
  }
  return check;
}

}  // namespace adbo
