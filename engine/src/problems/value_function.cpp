#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "adbo/kernels/dense_newton.h"
#include "adbo/kernels/fit.h"
#include "adbo/measures.h"
#include "problems/fit_options.h"
#include "problems/ordered_sum.h"
#include "protocol/direct_curvature.h"

namespace adbo {
namespace {

/// The means over the workers of their objectives at a fixed upper variable.
class PooledProblem {
 public:
  PooledProblem(Problem& problem, std::span<const double> upper, detail::Executor& executor,
                const ResolveOptions& options)
      : problem_(problem),
        upper_(upper),
        mean_factor_(1.0 / static_cast<double>(problem.num_workers())),
        executor_(executor),
        options_(options),
        sum_(executor, problem.num_workers(), problem.lower_dim()) {}

  /// (1/N) sum_i g_i(x, y) and its gradient.
  double lower(std::span<const double> y, std::span<double> gradient) {
    return mean([&](std::size_t i,
                    std::span<double> out) { return problem_.worker(i).lower(part_of_upper(i), y, out); },
                gradient);
  }

  /// ((1/N) sum_i d2 g_i/dy dy) u.
  void lower_hessian_product(std::span<const double> y, std::span<const double> u, std::span<double> out) {
    mean(
        [&](std::size_t i, std::span<double> product) {
          problem_.worker(i).lower_hessian_product(part_of_upper(i), y, u, product);
          return 0.0;
        },
        out);
  }

  /// (1/N) sum_i g_i(x, y), its gradient, and its Hessian where every worker gives one.
  double lower_second_order(std::span<const double> y, std::span<double> gradient,
                            std::span<double> hessian) {
    if (!hessian_sum_) hessian_sum_.emplace(executor_, problem_.num_workers(), hessian.size());
    mean(
        [&](std::size_t i, std::span<double> block) {
          problem_.worker(i).lower_curvature(part_of_upper(i), y, block);
          return 0.0;
        },
        hessian, *hessian_sum_);
    return lower(y, gradient);
  }

  /// (1/N) sum_i G_i(x, y).
  double upper(std::span<const double> y) {
    std::vector<double> gradient(y.size());
    return mean(
        [&](std::size_t i, std::span<double> gradient_y) {
          WorkerObjective& worker = problem_.worker(i);
          std::vector<double> gradient_x(worker.upper_depends_on_x() ? problem_.support(i).size : 0);
          return worker.upper(part_of_upper(i), y, gradient_x, gradient_y);
        },
        gradient);
  }

 private:
  [[nodiscard]] std::span<const double> part_of_upper(std::size_t i) const {
    const UpperSupport& support = problem_.support(i);
    return upper_.subspan(support.begin, support.size);
  }

  double mean(const detail::OrderedSum::Part& part, std::span<double> out) { return mean(part, out, sum_); }

  double mean(const detail::OrderedSum::Part& part, std::span<double> out, detail::OrderedSum& sum) const {
    detail::throw_if_given_up(options_);
    const double total = sum(part, out);
    for (double& entry : out) entry *= mean_factor_;
    return total * mean_factor_;
  }

  Problem& problem_;
  std::span<const double> upper_;
  double mean_factor_;
  detail::Executor& executor_;
  const ResolveOptions& options_;
  detail::OrderedSum sum_;
  std::optional<detail::OrderedSum> hessian_sum_;
};

/// y*(x) from the start in `lower`. Newton's method with the whole Hessian where the workers give it: the
/// coefficients of a regularizer can differ by many orders of magnitude, which L-BFGS does not bear. Where
/// that does not converge, and elsewhere, fit(), which also knows what is unbounded.
kernels::FitResult minimize_lower(const Problem& problem, PooledProblem& pooled, std::span<double> lower,
                                  const kernels::FitOptions& options) {
  int evaluations = 0;
  if (const std::size_t size = detail::direct_curvature_size(problem); size > 0) {
    std::vector<double> point(lower.begin(), lower.end());
    const kernels::FitResult newton = kernels::DenseNewton(size).minimize(
        point,
        [&](std::span<const double> y, std::span<double> gradient, std::span<double> hessian) {
          return pooled.lower_second_order(y, gradient, hessian);
        },
        options);
    evaluations = newton.evaluations;
    if (newton.status == kernels::FitStatus::kConverged) {
      std::copy(point.begin(), point.end(), lower.begin());
      return newton;
    }
  }
  kernels::FitResult fit = kernels::fit(
      lower, [&](std::span<const double> y, std::span<double> gradient) { return pooled.lower(y, gradient); },
      [&](std::span<const double> y, std::span<const double> u, std::span<double> out) {
        pooled.lower_hessian_product(y, u, out);
      },
      options);
  fit.evaluations += evaluations;
  return fit;
}

void check(const Problem& problem, std::span<const double> upper, std::span<const double> lower_start) {
  if (const Status status = problem.validate(); !status.ok()) {
    throw std::invalid_argument("value_function: " + status.message());
  }
  if (upper.size() != problem.upper_dim()) {
    throw std::invalid_argument("value_function: the upper variable has " + std::to_string(upper.size()) +
                                " coordinates, the problem " + std::to_string(problem.upper_dim()));
  }
  if (!lower_start.empty() && lower_start.size() != problem.lower_dim()) {
    throw std::invalid_argument("value_function: the lower start has " + std::to_string(lower_start.size()) +
                                " coordinates, the problem " + std::to_string(problem.lower_dim()));
  }
}

std::string_view reason_of(kernels::FitStatus status) {
  switch (status) {
    case kernels::FitStatus::kConverged:
      return "converged";
    case kernels::FitStatus::kEvaluationLimit:
      return "evaluation limit";
    case kernels::FitStatus::kStalled:
      return "stalled";
    case kernels::FitStatus::kUnbounded:
      return "unbounded";
    case kernels::FitStatus::kNotFinite:
      return "not finite";
  }
  return "unknown";
}

}  // namespace

ValueFunction value_function(Problem& problem, std::span<const double> upper,
                             std::span<const double> lower_start, const ResolveOptions& options) {
  check(problem, upper, lower_start);
  const auto begin = std::chrono::steady_clock::now();
  const std::unique_ptr<detail::Executor> executor =
      detail::make_measure_executor(options.threads, problem.num_workers());
  PooledProblem pooled(problem, upper, *executor, options);

  ValueFunction result;
  result.lower.assign(lower_start.begin(), lower_start.end());
  result.lower.resize(problem.lower_dim());
  const kernels::FitResult fit = minimize_lower(problem, pooled, result.lower, detail::fit_options(options));

  result.reason = reason_of(fit.status);
  result.converged = fit.status == kernels::FitStatus::kConverged;
  result.gradient_norm = fit.gradient_norm;
  result.evaluations = fit.evaluations;
  if (fit.status == kernels::FitStatus::kUnbounded) {
    // There is no y*(x), hence no value: whatever G is where the search gave up would be a number without
    // meaning.
    result.lower_objective = -std::numeric_limits<double>::infinity();
    result.upper_objective = std::numeric_limits<double>::quiet_NaN();
  } else {
    result.lower_objective = fit.value;
    result.upper_objective = pooled.upper(result.lower);
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

}  // namespace adbo
