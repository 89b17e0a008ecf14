#include "methods/implicit_cuts/implicit_master.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "protocol/count_work.h"
#include "protocol/start_values.h"
#include "protocol/vector_math.h"

namespace adbo::detail {
namespace {

constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();
/// Of the multipliers' Gram matrix: cuts that contradict each other keep bounded multipliers.
constexpr double kGramRegularization = 1e-6;
/// Most that a coordinate of v may move in an iteration, in its own units.
constexpr double kLargestChange = 0.5;

double squared_distance(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
  return sum;
}

/// out <- factor (point - centre)
void scaled_difference(double factor, std::span<const double> point, std::span<const double> centre,
                       std::span<double> out) {
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = factor * (point[k] - centre[k]);
}

double cosine(std::span<const double> a, std::span<const double> b) {
  const double norms = std::sqrt(squared_norm(a) * squared_norm(b));
  return norms > 0 ? dot(a, b) / norms : 1;
}

}  // namespace

ImplicitMaster::ImplicitMaster(const Problem& problem, const Options& options, std::shared_ptr<CutPool> pool)
    : problem_(problem),
      options_(options),
      pool_(std::move(pool)),
      workers_(problem.num_workers()),
      cuts_(*pool_, problem.num_workers(), static_cast<std::size_t>(options.max_cuts), has_copies()),
      qp_(static_cast<std::size_t>(options.max_cuts), kGramRegularization),
      estimates_(problem, ContributionForm::kWhole),
      damping_(problem, options),
      upper_(upper_start(problem)),
      lower_(lower_start(problem)),
      deviation_(problem.lower_dim()),
      objective_gradient_(problem.lower_dim()),
      objective_slope_(problem.upper_dim()),
      cross_(problem.upper_dim()),
      direction_(problem.upper_dim()),
      last_direction_(problem.upper_dim()),
      gram_(static_cast<std::size_t>(options.max_cuts * options.max_cuts)),
      linear_(static_cast<std::size_t>(options.max_cuts)),
      multiplier_(static_cast<std::size_t>(options.max_cuts)),
      distance_(kNotMeasured),
      upper_objective_(kNotMeasured),
      lower_objective_(kNotMeasured) {
  std::iota(workers_.begin(), workers_.end(), std::size_t{0});
}

void ImplicitMaster::drop(std::size_t worker) {
  std::erase(workers_, worker);
  estimates_.drop(worker);
  counts_.cuts_dropped += static_cast<std::int64_t>(cuts_.drop_all());
}

double ImplicitMaster::objective_factor() const {
  return has_copies() ? static_cast<double>(workers_.size()) : 1.0;
}

double ImplicitMaster::lower_step() const {
  return options_.steps == StepRule::kAuto ? steps_.lower_step() : options_.step_lower_local;
}

double ImplicitMaster::upper_step() const {
  return options_.steps == StepRule::kAuto ? steps_.upper_step() : options_.step_upper_consensus;
}

void ImplicitMaster::fill(Snapshot& draft) {
  draft.upper_consensus = upper_;
  draft.lower_consensus = estimates_.lower();
  draft.lower_adjoint = estimates_.adjoint();
  draft.lower_step = lower_step();
  if (has_copies()) {
    cuts_.pin_into(draft);
  } else {
    draft.lower_point = lower_;
  }
}

void ImplicitMaster::step(std::int64_t t, std::span<const std::size_t> active, const WorkerStates& states) {
  absorb(active, states);
  read_table(states);
  measure_deviation(states);
  improve_estimates(t, states);
  if (!estimates_.table_is_complete()) return;
  if (options_.multipliers == MultiplierRule::kExact) {
    find_multipliers();
  } else {
    ascend_multipliers();
  }
  step_lower();
  step_upper();
  update_cuts(t, states);
}

void ImplicitMaster::absorb(std::span<const std::size_t> active, const WorkerStates& states) {
  estimates_.absorb(active, states);
  for (const std::size_t i : active) {
    const UpdateMessage& update = states.state(i);
    cuts_.absorb(i, update);
    steps_.see_curvature(update.upper_curvature);
    add_work(counts_, update.work);
    // There: v on the support, y-hat and q, and z or lambda; back: y_i or nothing, grad_y G_i, grad_y g_i and
    // (d2 g_i/dy dy) q, what lies on the support, two scalars per cut, and curvature.
    const std::size_t cut_numbers = has_copies() ? 3 * cuts_.size() : 0;
    const std::size_t numbers = 6 * problem_.lower_dim() + update.upper_direction.size() +
                                problem_.support(i).size + update.upper_objective_slope.size() + cut_numbers +
                                (update.has_curvature ? update.curvature.size() : 0);
    counts_.bytes += static_cast<std::int64_t>(sizeof(double) * numbers);
  }
  counts_.messages += static_cast<std::int64_t>(2 * active.size());
}

void ImplicitMaster::read_table(const WorkerStates& states) {
  estimates_.mean(states, &UpdateMessage::upper_objective_gradient, objective_gradient_);
  estimates_.mean_on_supports(states, &UpdateMessage::upper_direction, cross_);
  estimates_.mean_on_supports(states, &UpdateMessage::upper_objective_slope, objective_slope_);
  upper_objective_ = estimates_.mean(states, &UpdateMessage::upper_value);
  lower_objective_ = estimates_.mean(states, &UpdateMessage::lower_value);
}

/// r and h at the current (y_i, z, y-hat).
void ImplicitMaster::measure_deviation(const WorkerStates& states) {
  const std::vector<double>& centre = estimates_.lower();
  scaled_difference(1, lower_, centre, deviation_);
  distance_ = squared_norm(deviation_);
  if (!has_copies()) return;
  for (const std::size_t i : workers_) {
    const std::vector<double>& y = states.state(i).lower_local;
    add_scaled(1.0, y, deviation_);
    add_scaled(-1.0, centre, deviation_);
    distance_ += squared_distance(y, centre);
  }
}

void ImplicitMaster::improve_estimates(std::int64_t t, const WorkerStates& states) {
  // Before any curvature is known nothing moves and r is zero: the objective's gradient then gives q a
  // direction, whose Hessian product shows the curvature.
  const bool known = lower_step() > 0 && distance_ > 0;
  estimates_.sum(states, upper_, known ? deviation_ : objective_gradient_, damping_.at(estimates_));
  steps_.see_curvature(estimates_.largest_curvature());
  residual_ = squared_norm(estimates_.lower_residual()) + squared_norm(estimates_.adjoint_residual());
  estimates_.improve(t);

  // What the residuals say is still missing, y-hat against the distance that the cuts' normals are made of
  // (every copy feels it), q against itself.
  const double copies = has_copies() ? static_cast<double>(workers_.size()) + 1 : 1;
  const double lower_missing = copies * squared_norm(estimates_.lower_residual());
  const double adjoint_missing = squared_norm(estimates_.adjoint_residual());
  const double adjoint = squared_norm(estimates_.adjoint());
  const double worst = std::max(distance_ > 0 ? lower_missing / distance_ : 1.0,
                                adjoint > 0 ? adjoint_missing / adjoint : 1.0);
  lag_ = std::sqrt(worst);
}

/// The multipliers of the proximal step onto the linearized cuts: the minimizer over lambda >= 0 of
/// 1/2 lambda' Q lambda - lambda' (cut values - eta_y p - eta_v s), p_l = sum_i b_il.grad_y G_i and
/// s_l = a_l.grad_x G: what the objective's own step will add to the cuts.
void ImplicitMaster::find_multipliers() {
  const std::size_t size = cuts_.size();
  const double eta_y = lower_step(), eta_v = upper_step();
  for (std::size_t k = 0; k < size; ++k) {
    const Cut& cut = cuts_.cut(k);
    const double p = has_copies() ? cuts_.gradient_product(k) : dot(cut.lower_consensus, objective_gradient_);
    const double s = objective_factor() * dot(cut.upper, objective_slope_);
    linear_[k] = cuts_.value(k, upper_, lower_) - eta_y * p - eta_v * s;
    multiplier_[k] = cuts_.multiplier(k);
    for (std::size_t l = 0; l < size; ++l) {
      gram_[k * size + l] = eta_y * cuts_.lower_gram(k, l) + eta_v * cuts_.upper_gram(k, l);
    }
  }
  qp_.solve(std::span(gram_).first(size * size), std::span(linear_).first(size),
            std::span(multiplier_).first(size));
  for (std::size_t k = 0; k < size; ++k) cuts_.set_multiplier(k, multiplier_[k]);
}

/// new_29 without regularization.
void ImplicitMaster::ascend_multipliers() {
  for (std::size_t l = 0; l < cuts_.size(); ++l) {
    const double ascent = options_.step_cut_multiplier * cuts_.value(l, upper_, lower_);
    cuts_.set_multiplier(l, std::max(0.0, cuts_.multiplier(l) + ascent));
  }
}

/// new_28: z <- z - eta_y sum_l lambda_l c_l; where the copies are eliminated, z carries their objective too.
void ImplicitMaster::step_lower() {
  const double eta = lower_step();
  if (!has_copies()) {
    // Until there is a cut z follows y-hat: left behind, it would make the first normals show how y-hat ran
    // from the start to y*(v) instead of what the objective wants.
    if (counts_.cuts_added == 0) lower_ = estimates_.lower();
    add_scaled(-eta, objective_gradient_, lower_);
  }
  for (std::size_t l = 0; l < cuts_.size(); ++l) {
    if (cuts_.multiplier(l) != 0) {
      add_scaled(-eta * cuts_.multiplier(l), cuts_.cut(l).lower_consensus, lower_);
    }
  }
}

/// new_27 with x_i = v eliminated: v <- v - eta_v (sum_l lambda_l a_l + grad_x G).
void ImplicitMaster::step_upper() {
  std::swap(direction_, last_direction_);
  std::fill(direction_.begin(), direction_.end(), 0.0);
  add_scaled(objective_factor(), objective_slope_, direction_);
  for (std::size_t l = 0; l < cuts_.size(); ++l) {
    if (cuts_.multiplier(l) != 0) add_scaled(cuts_.multiplier(l), cuts_.cut(l).upper, direction_);
  }
  const double largest = largest_entry(direction_);
  const double step = largest > 0 ? std::min(upper_step(), kLargestChange / largest) : 0;
  add_scaled(-step, direction_, upper_);
  problem_.keep_within_bounds(upper_);
  // The lag of the first estimates says nothing of v's step: v stands, or moves along grad_x G alone.
  if (counts_.cuts_added > 0) steps_.follow(lag_, cosine(direction_, last_direction_));
}

void ImplicitMaster::update_cuts(std::int64_t t, const WorkerStates& states) {
  counts_.cuts_dropped += static_cast<std::int64_t>(cuts_.drop_idle());
  measure_deviation(states);
  const bool due = (t + 1) % options_.cut_interval == 0 && (options_.cut_until < 0 || t < options_.cut_until);
  if (!due || distance_ == 0 || lag_ > DriftSteps::kBearableLag) return;
  if (cuts_.is_full()) {
    cuts_.drop_oldest();
    ++counts_.cuts_dropped;
  }
  Cut& cut = pool_->take();
  build_cut(cut, states);
  cut.serial = counts_.cuts_added++;
  cuts_.add(cut, states);
  steps_.see_cut(squared_norm(cut.upper));
}

/// eps_t: the squared length of a step of y along the objective, which is where the objective's pull and a
/// cut are in balance, shrunk by (1 + cuts / 30)^(-1/2) in length. Asking for less at once would leave
/// normals that show the estimates' error.
double ImplicitMaster::level() const {
  constexpr double kDecay = 30;
  const double length = lower_step() * std::sqrt(objective_factor() * squared_norm(objective_gradient_));
  return length * length / (1 + static_cast<double>(counts_.cuts_added) / kDecay);
}

/// h + dh/dv.(v' - v) + sum_i dh/dy_i.(y_i' - y_i) + dh/dz.(z' - z) <= eps_t, divided by ||(b, c)|| =
/// 2 sqrt(h). dh/dv = 2 sum_i (d2 g_i/dv dy) q for q of the summed Hessian: the means give the same.
void ImplicitMaster::build_cut(Cut& cut, const WorkerStates& states) const {
  const std::vector<double>& centre = estimates_.lower();
  const double length = std::sqrt(distance_);
  scaled_difference(1 / length, lower_, centre, cut.lower_consensus);
  for (std::size_t j = 0; j < cut.upper.size(); ++j) cut.upper[j] = cross_[j] / length;
  cut.offset =
      (distance_ - level()) / (2 * length) - dot(cut.upper, upper_) - dot(cut.lower_consensus, lower_);
  for (std::vector<double>& block : cut.lower_local) std::fill(block.begin(), block.end(), 0.0);
  for (std::size_t k = 0; has_copies() && k < workers_.size(); ++k) {
    const std::size_t i = workers_[k];
    const std::vector<double>& y = states.state(i).lower_local;
    scaled_difference(1 / length, y, centre, cut.lower_local[i]);
    cut.offset -= dot(cut.lower_local[i], y);
  }
}

MethodMaster::Measurement ImplicitMaster::stationarity_gap(Transport&) {
  return {.outcome = {}, .gap = squared_norm(direction_) + residual_};
}

void ImplicitMaster::describe(TraceRecord& record) const {
  record.upper_objective = upper_objective_;
  record.lower_objective = lower_objective_;
  record.lower_distance = distance_;
  record.cuts = static_cast<std::int64_t>(cuts_.size());
}

void ImplicitMaster::describe(Summary& summary) const {
  summary.counts = counts_;
  summary.counts.cuts_alive = static_cast<std::int64_t>(cuts_.size());
}

}  // namespace adbo::detail
