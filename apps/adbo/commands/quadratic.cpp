#include "commands/quadratic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <utility>

#include "adbo/measures.h"
#include "adbo/problems/quadratic.h"
#include "execution/resolve_options.h"
#include "output/words.h"
#include "support/exit_code.h"
#include "support/memory.h"

namespace adbo::app {
namespace {

constexpr double kAutomaticTolerance = 1e-8;

struct Solution {
  std::vector<double> upper;
  double value = 0;
};

QuadraticSettings quadratic_settings(const Settings& settings) {
  QuadraticSettings quadratic;
  quadratic.upper_dim = static_cast<std::size_t>(settings.task().upper_dim);
  quadratic.lower_dim = static_cast<std::size_t>(settings.task().lower_dim);
  quadratic.num_workers = static_cast<std::size_t>(settings.task().workers);
  quadratic.condition = settings.task().condition;
  quadratic.heterogeneity = settings.task().heterogeneity;
  quadratic.seed = settings.options().seed;
  return quadratic;
}

/// Of the matrices: H_i and B_i of every worker, and what the closed form is solved by.
void refuse_beyond_memory(const QuadraticSettings& quadratic) {
  const auto n = static_cast<double>(quadratic.upper_dim), m = static_cast<double>(quadratic.lower_dim);
  const auto workers = static_cast<double>(quadratic.num_workers);
  const double needed = sizeof(double) * (workers * m * (m + n) + n * n + m * (m + n));
  const std::string beyond = beyond_memory(needed);
  if (beyond.empty()) return;
  throw UsageError(fmt::format("upper_dim = {}, lower_dim = {}, workers = {}: their matrices need {}",
                               quadratic.upper_dim, quadratic.lower_dim, quadratic.num_workers, beyond));
}

double largest_distance(std::span<const double> first, std::span<const double> second) {
  double distance = 0;
  for (std::size_t j = 0; j < first.size(); ++j)
    distance = std::max(distance, std::abs(first[j] - second[j]));
  return distance;
}

Findings conclude(const Solution& solution, const ResolveOptions& automatic, const MeasureRequest& request,
                  Problem problem, const State& state) {
  Findings findings;
  findings.metrics = {{"value_function_optimum", solution.value},
                      {"upper_distance_max", largest_distance(solution.upper, state.upper)}};
  if (request.depth == MeasureDepth::kQuick) return findings;
  const ResolveOptions resolve = request.bounded(automatic);
  const std::vector<double> zeros(problem.upper_dim());
  const ValueFunction start = value_function(problem, zeros, {}, resolve);
  const ValueFunction end = value_function(problem, state.upper, {}, resolve);
  findings.metrics.insert(findings.metrics.begin(), {{"value_function", end.upper_objective},
                                                     {"value_function_start", start.upper_objective}});
  findings.measure_seconds = start.seconds + end.seconds;
  findings.words = value_function_words(end, start, resolve.gradient_tolerance, "upper variable");
  return findings;
}

}  // namespace

PreparedTask prepare_quadratic(const Settings& settings) {
  const QuadraticSettings quadratic = quadratic_settings(settings);
  refuse_beyond_memory(quadratic);
  QuadraticInstance instance = make_quadratic(quadratic);
  const Solution solution{std::move(instance.upper_solution), instance.value};
  const ResolveOptions resolve = resolve_options(settings, kAutomaticTolerance);
  PreparedTask prepared;
  prepared.make_problem = [quadratic] { return make_quadratic(quadratic).problem; };
  prepared.make_measures = [](const Settings&) { return RunMeasures{}; };
  prepared.data = {{"upper_dim", settings.task().upper_dim}, {"lower_dim", settings.task().lower_dim}};
  prepared.conclude = [solution, resolve, quadratic](const State& state, const OutputFolder&,
                                                     const MeasureRequest& request) {
    return conclude(solution, resolve, request, make_quadratic(quadratic).problem, state);
  };
  return prepared;
}

}  // namespace adbo::app
