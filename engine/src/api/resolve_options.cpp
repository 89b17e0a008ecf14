#include "api/resolve_options.h"

#include <algorithm>
#include <cmath>

#include "adbo/method_table.h"
#include "methods/running_estimates/contribution_form.h"
#include "runtime/executor.h"

namespace adbo::detail {

void apply_theorem2_steps(Options& options, std::size_t num_workers) {
  const double n = static_cast<double>(num_workers);
  const double m = static_cast<double>(options.max_cuts);
  const double l = options.smoothness, l2 = l * l;
  const double tau = static_cast<double>(options.max_staleness);
  // The largest step that meets eta (L + 2 c_t) < 2 for every t >= 1; none does at t = 0, where c_0 = 1 /
  // eta.
  const double from_decay = 2 * (1 - std::pow(2.0, -0.25)) / l;
  constexpr double kInside = 0.9;
  options.step_cut_multiplier =
      kInside * std::min(from_decay, 1 / (30 * tau * options.drift_constant * n * l2));
  options.step_consensus_dual = kInside * from_decay;

  const double c1 = options.cut_regularization_floor, c2 = options.dual_regularization_floor;
  const double from_cuts = m * options.theorem_gamma * l2 / (options.step_cut_multiplier * c1 * c1);
  const double from_duals = n * options.theorem_gamma * l2 / (options.step_consensus_dual * c2 * c2);
  const double step = 2 / (l + options.step_cut_multiplier * m * l2 + options.step_consensus_dual * n * l2 +
                           8 * (from_cuts + from_duals));
  options.step_upper_local = options.step_lower_local = step;
  options.step_upper_consensus = options.step_lower_consensus = step;
}

namespace {

/// The paper's, and where contributions hardly age one that a worker a few times slower than the others does
/// not reach: waiting for it would cost more than its lateness does (docs/practical.md).
std::int64_t automatic_staleness(Method method, const Problem& problem) {
  constexpr std::int64_t kUsual = 15, kOfUpToDateContributions = 60;
  const bool up_to_date =
      method == Method::kAsyncHypergradient && contribution_form(problem) == ContributionForm::kAffine;
  return up_to_date ? kOfUpToDateContributions : kUsual;
}

}  // namespace

Options resolve_options(Options options, const Problem& problem) {
  const std::size_t num_workers = problem.num_workers();
  const auto n = static_cast<std::int64_t>(num_workers);
  options.method = settled(options.method);
  const Pace pace = method_info(options.method).pace;
  if (pace != Pace::kArrivals) {
    options.active_workers = n;
    options.max_staleness = 1;
  }
  if (options.max_staleness == 0) options.max_staleness = automatic_staleness(options.method, problem);
  if (options.active_workers == 0) options.active_workers = (n + 1) / 2;
  if (options.threads == 0) options.threads = available_processors();
  options.threads = std::min(options.threads, n);  // a worker runs on one thread at a time
  if (options.executor == ExecutorKind::kInline) options.threads = 1;
  const bool implicit = options.cuts == CutConstruction::kImplicit;
  if (options.multipliers == MultiplierRule::kAuto) {
    options.multipliers = implicit ? MultiplierRule::kExact : MultiplierRule::kAscent;
  }
  if (options.steps == StepRule::kAuto && !implicit) options.steps = StepRule::kFixed;
  if (options.cut_interval == 0) options.cut_interval = implicit ? 1 : 50;
  if (options.steps == StepRule::kTheorem2) apply_theorem2_steps(options, num_workers);
  return options;
}

}  // namespace adbo::detail
