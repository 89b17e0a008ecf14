#include "methods/cpbo/cpbo_master.h"

#include <algorithm>
#include <limits>

#include "methods/adbo/polytope_update.h"
#include "protocol/start_values.h"
#include "protocol/vector_math.h"

namespace adbo::detail {
namespace {

constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

}  // namespace

CpboMaster::CpboMaster(const Problem& problem, const Options& options)
    : SynchronousMaster(problem),
      options_(options),
      steps_(options, StepCurvature::kMean),
      pool_(problem.upper_dim(), problem.lower_dim(), 0),
      polytope_(pool_, 0, static_cast<std::size_t>(options.max_cuts)),
      multipliers_(static_cast<std::size_t>(options.max_cuts)),
      descent_(rounds(), options.lower_rounds),
      upper_(upper_start(problem)),
      lower_(lower_start(problem)),
      gradient_upper_(problem.upper_dim()),
      gradient_lower_(problem.lower_dim()),
      difference_(problem.lower_dim()),
      value_(kNotMeasured),
      distance_(kNotMeasured),
      gap_upper_(kNotMeasured),
      gap_lower_(kNotMeasured) {}

void CpboMaster::fill(Snapshot& draft) {
  draft.upper_consensus = upper_;
  draft.lower_consensus = lower_;
}

MethodMaster::Outcome CpboMaster::iterate(std::int64_t t) {
  steps_.settle(rounds(), upper_, lower_);
  trial_upper_ = upper_;
  trial_lower_ = lower_;
  step_upper(t);
  step_lower(t);
  if (!has_fixed_polytope(t)) {
    if (!has_exact_multipliers()) step_multipliers();
    if (PolytopeUpdate::due(options_, t)) update_polytope();
  }
  upper_.swap(trial_upper_);
  lower_.swap(trial_lower_);
  return {};
}

bool CpboMaster::has_fixed_polytope(std::int64_t t) const {
  return options_.cut_until >= 0 && t >= options_.cut_until;
}

double CpboMaster::cut_value(std::size_t l) const {
  const Cut& cut = polytope_.cut(l);
  return dot(cut.upper, trial_upper_) + dot(cut.lower_consensus, trial_lower_) + cut.offset;
}

double CpboMaster::cut_weight(std::int64_t t, std::size_t l) const {
  const double multiplier = polytope_.multiplier(l);
  const bool is_penalty = has_fixed_polytope(t) && !has_exact_multipliers();
  return is_penalty ? 2 * multiplier * std::max(0.0, cut_value(l)) : multiplier;
}

void CpboMaster::step_upper(std::int64_t t) {
  rounds().ask({.upper = true}, {.upper = trial_upper_, .lower = trial_lower_});
  value_ = rounds().mean(&Evaluation::upper_value);
  rounds().mean_on_supports(&Evaluation::upper_gradient_upper, gradient_upper_);
  if (has_exact_multipliers()) solve_multipliers(t);
  for (std::size_t l = 0; l < polytope_.size(); ++l) {
    add_scaled(cut_weight(t, l), polytope_.cut(l).upper, gradient_upper_);
  }
  gap_upper_ = squared_norm(gradient_upper_);
  add_scaled(-steps_.upper(t), gradient_upper_, trial_upper_);
  rounds().problem().keep_within_bounds(trial_upper_);
}

/// At (x, y), after the round for the step of x.
void CpboMaster::solve_multipliers(std::int64_t t) {
  rounds().mean(&Evaluation::upper_gradient_lower, gradient_lower_);
  multipliers_.solve({.upper = steps_.upper(t),
                      .lower = steps_.lower(t),
                      .point_upper = trial_upper_,
                      .point_lower = trial_lower_,
                      .gradient_upper = gradient_upper_,
                      .gradient_lower = gradient_lower_},
                     polytope_);
}

void CpboMaster::step_lower(std::int64_t t) {
  rounds().ask({.upper = true}, {.upper = trial_upper_, .lower = trial_lower_});
  rounds().mean(&Evaluation::upper_gradient_lower, gradient_lower_);
  for (std::size_t l = 0; l < polytope_.size(); ++l) {
    add_scaled(cut_weight(t, l), polytope_.cut(l).lower_consensus, gradient_lower_);
  }
  gap_lower_ = squared_norm(gradient_lower_);
  add_scaled(-steps_.lower(t), gradient_lower_, trial_lower_);
}

void CpboMaster::step_multipliers() {
  for (std::size_t l = 0; l < polytope_.size(); ++l) {
    const double ascended = polytope_.multiplier(l) + options_.step_cut_multiplier * cut_value(l);
    polytope_.set_multiplier(l, std::max(0.0, ascended));
  }
}

void CpboMaster::update_polytope() {
  multipliers_.forget_cuts();
  dropped_ += static_cast<std::int64_t>(polytope_.drop_inactive(options_.drop_rule));
  const std::span<const double> solution = descent_.run(trial_upper_, trial_lower_, steps_.lower(0));
  for (std::size_t k = 0; k < difference_.size(); ++k) difference_[k] = trial_lower_[k] - solution[k];
  distance_ = squared_norm(difference_);
  if (distance_ > options_.lower_tolerance || options_.cut_rule == CutRule::kAlways) {
    add_cut(distance_, difference_);
  }
}

/// h + dh/dx.(x - x_new) + dh/dy.(y - y_new) <= epsilon, with dh/dy = 2 (y_new - y_K) and dh/dx = -2
/// (dy_K/dx)' (y_new - y_K).
void CpboMaster::add_cut(double distance, std::span<const double> difference) {
  Cut& cut = pool_.take();
  for (std::size_t k = 0; k < difference.size(); ++k) {
    cut.lower_consensus[k] = 2 * difference[k];
    gradient_lower_[k] = -2 * difference[k];
  }
  std::fill(cut.upper.begin(), cut.upper.end(), 0.0);
  try {
    descent_.reverse(gradient_lower_, cut.upper);
  } catch (...) {
    pool_.unpin(cut);
    throw;
  }
  cut.offset = distance - options_.lower_tolerance - dot(cut.upper, trial_upper_) -
               dot(cut.lower_consensus, trial_lower_);
  cut.serial = next_serial_++;
  dropped_ += static_cast<std::int64_t>(polytope_.evict_if_full());
  polytope_.add(cut, {});
  ++added_;
}

MethodMaster::Measurement CpboMaster::stationarity_gap(Transport&) {
  return {.outcome = {}, .gap = gap_upper_ + gap_lower_};
}

void CpboMaster::describe(TraceRecord& record) const {
  record.upper_objective = value_;
  record.lower_objective = kNotMeasured;
  record.lower_distance = distance_;
  record.cuts = static_cast<std::int64_t>(polytope_.size());
}

void CpboMaster::describe(Summary& summary) const {
  SynchronousMaster::describe(summary);
  summary.counts.cuts_added = added_;
  summary.counts.cuts_dropped = dropped_;
  summary.counts.cuts_alive = static_cast<std::int64_t>(polytope_.size());
}

}  // namespace adbo::detail
