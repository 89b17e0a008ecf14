#include "methods/implicit_cuts/implicit_master.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "methods/running_estimates/contribution_form.h"
#include "methods/running_estimates/upper_step_settings.h"
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

/// The residual of q relative to q above which no cut is made: its normal would show the error of q.
constexpr double kMostLag = 0.1;

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
      upper_step_(upper_step_settings(problem, ContributionForm::kWhole), problem.upper_dim()),
      upper_(upper_start(problem)),
      departure_(problem.lower_dim()),
      deviation_(problem.lower_dim()),
      objective_gradient_(problem.lower_dim()),
      objective_slope_(problem.upper_dim()),
      cross_(problem.upper_dim()),
      direction_(problem.upper_dim()),
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

/// eta_y, 1 / L_y with scale-free steps; 0 before any curvature was seen.
double ImplicitMaster::lower_step() const {
  if (options_.steps != StepRule::kAuto) return options_.step_lower_local;
  return curvature_ > 0 ? 1 / curvature_ : 0;
}

void ImplicitMaster::fill(Snapshot& draft) {
  draft.upper_consensus = upper_;
  draft.lower_consensus = estimates_.lower();
  draft.lower_adjoint = estimates_.adjoint();
  draft.lower_step = lower_step();
  if (has_copies()) {
    cuts_.pin_into(draft);
  } else {
    draft.lower_point = estimates_.lower();
    add_scaled(1.0, departure_, draft.lower_point);
  }
}

void ImplicitMaster::step(std::int64_t t, std::span<const std::size_t> active, const WorkerStates& states) {
  absorb(active, states);
  read_table(states);
  improve_estimates(t, states);
  if (!estimates_.table_is_complete()) return;
  if (options_.multipliers == MultiplierRule::kExact) {
    find_multipliers();
  } else {
    ascend_multipliers();
  }
  step_lower();
  step_upper(t);
  update_cuts(t, states);
}

void ImplicitMaster::absorb(std::span<const std::size_t> active, const WorkerStates& states) {
  estimates_.absorb(active, states);
  for (const std::size_t i : active) {
    const UpdateMessage& update = states.state(i);
    cuts_.absorb(i, update);
    curvature_ = std::max(curvature_, update.upper_curvature);
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

/// r and h at the current (d_i, d).
void ImplicitMaster::measure_deviation(const WorkerStates& states) {
  std::copy(departure_.begin(), departure_.end(), deviation_.begin());
  distance_ = squared_norm(departure_);
  if (!has_copies()) return;
  for (const std::size_t i : workers_) {
    const std::vector<double>& departure = states.state(i).lower_local;
    add_scaled(1.0, departure, deviation_);
    distance_ += squared_norm(departure);
  }
}

/// r / sqrt(h), so that q keeps its size while h falls. Before any curvature is known nothing has moved and r
/// is zero: the direction that z will take then makes q begin where it will be wanted, and its Hessian
/// product shows the curvature.
void ImplicitMaster::choose_right_hand_side() {
  const bool known = lower_step() > 0 && distance_ > 0;
  if (!known) {
    std::copy(objective_gradient_.begin(), objective_gradient_.end(), deviation_.begin());
  }
  const double length = known ? std::sqrt(distance_) : -std::sqrt(squared_norm(deviation_));
  if (length == 0) return;
  for (double& entry : deviation_) entry /= length;
}

void ImplicitMaster::improve_estimates(std::int64_t t, const WorkerStates& states) {
  measure_deviation(states);
  choose_right_hand_side();
  estimates_.sum(states, upper_, deviation_, damping_.at(estimates_));
  curvature_ = std::max(curvature_, estimates_.largest_curvature());
  residual_ = squared_norm(estimates_.lower_residual()) + squared_norm(estimates_.adjoint_residual());
  estimates_.improve(t);
  // What the residual says is still missing of q. What is missing of y-hat spoils no normal: d stays as it
  // is.
  const double adjoint = squared_norm(estimates_.adjoint());
  lag_ = adjoint > 0 ? std::sqrt(squared_norm(estimates_.adjoint_residual()) / adjoint) : 1.0;
}

/// The multipliers of the proximal step onto the linearized cuts: the minimizer over lambda >= 0 of
/// 1/2 lambda' Q lambda - lambda' (cut values - eta_y p), Q_kl = eta_y (sum_i b_ki.b_li + c_k.c_l) and
/// p_l = sum_i b_il.grad_y G_i: what the objective's own step will add to the cuts. v has no part in it: z
/// and the copies are carried along when it moves, and the cuts' values stay.
void ImplicitMaster::find_multipliers() {
  const std::size_t size = cuts_.size();
  const double eta_y = lower_step();
  for (std::size_t k = 0; k < size; ++k) {
    const double p =
        has_copies() ? cuts_.gradient_product(k) : dot(cuts_.cut(k).lower_consensus, objective_gradient_);
    linear_[k] = cuts_.value(k, departure_) - eta_y * p;
    multiplier_[k] = cuts_.multiplier(k);
    for (std::size_t l = 0; l < size; ++l) gram_[k * size + l] = eta_y * cuts_.gram(k, l);
  }
  qp_.solve(std::span(gram_).first(size * size), std::span(linear_).first(size),
            std::span(multiplier_).first(size));
  for (std::size_t k = 0; k < size; ++k) cuts_.set_multiplier(k, multiplier_[k]);
}

/// new_29 without regularization.
void ImplicitMaster::ascend_multipliers() {
  for (std::size_t l = 0; l < cuts_.size(); ++l) {
    const double ascent = options_.step_cut_multiplier * cuts_.value(l, departure_);
    cuts_.set_multiplier(l, std::max(0.0, cuts_.multiplier(l) + ascent));
  }
}

/// new_28 in d = z - y-hat: d <- d - eta_y sum_l lambda_l c_l; where the copies are eliminated, z carries
/// their objective too.
void ImplicitMaster::step_lower() {
  const double eta = lower_step();
  if (!has_copies()) {
    // Without a cut nothing holds z, which stands at y-hat then: one step from it shows what the objective
    // wants.
    if (cuts_.size() == 0) std::fill(departure_.begin(), departure_.end(), 0.0);
    add_scaled(-eta, objective_gradient_, departure_);
  }
  for (std::size_t l = 0; l < cuts_.size(); ++l) {
    if (cuts_.multiplier(l) != 0) {
      add_scaled(-eta * cuts_.multiplier(l), cuts_.cut(l).lower_consensus, departure_);
    }
  }
}

/// new_27 with x_i = v eliminated: v moves against sum_l lambda_l a_l + grad_x G, which is the hypergradient
/// where lambda balances the objective in y; with fixed steps by eta_v.
void ImplicitMaster::step_upper(std::int64_t t) {
  std::fill(direction_.begin(), direction_.end(), 0.0);
  add_scaled(objective_factor(), objective_slope_, direction_);
  for (std::size_t l = 0; l < cuts_.size(); ++l) {
    if (cuts_.multiplier(l) != 0) add_scaled(cuts_.multiplier(l), cuts_.cut(l).upper, direction_);
  }
  if (options_.steps != StepRule::kAuto) {
    const double largest = largest_entry(direction_);
    const double step = largest > 0 ? std::min(options_.step_upper_consensus, kLargestChange / largest) : 0;
    add_scaled(-step, direction_, upper_);
    problem_.keep_within_bounds(upper_);
  } else if (counts_.cuts_added > 0) {
    upper_step_.move(direction_, estimates_.lag(t), upper_);
  }
}

void ImplicitMaster::update_cuts(std::int64_t t, const WorkerStates& states) {
  counts_.cuts_dropped += static_cast<std::int64_t>(cuts_.drop_idle());
  measure_deviation(states);
  const bool due = (t + 1) % options_.cut_interval == 0 && (options_.cut_until < 0 || t < options_.cut_until);
  if (!due || distance_ == 0 || lag_ > kMostLag) return;
  if (cuts_.is_full()) {
    cuts_.drop_oldest();
    ++counts_.cuts_dropped;
  }
  Cut& cut = pool_->take();
  build_cut(cut, states);
  cut.serial = counts_.cuts_added++;
  cuts_.add(cut, states);
}

/// eps_t: the squared length of a step of y along the objective, which is where the objective's pull and a
/// cut are in balance, shrunk by (1 + cuts / 30)^(-1/2) in length: it biases the solution, and a level that
/// falls faster leaves z in one spot and the normals in one direction.
double ImplicitMaster::level() const {
  constexpr double kDecay = 30;
  const double length = lower_step() * std::sqrt(objective_factor() * squared_norm(objective_gradient_));
  return length * length / (1 + static_cast<double>(counts_.cuts_added) / kDecay);
}

/// h + dh/dv.(v' - v) + sum_i dh/dy_i.(y_i' - y_i) + dh/dz.(z' - z) <= eps_t, divided by ||(b, c)|| =
/// 2 sqrt(h), in d and d_i: there h depends on them alone, and every cut stays a tangent of it however far v
/// goes. a = (d2 g/dv dy) q says what v owes to being followed. dh/dv = 2 sum_i (d2 g_i/dv dy) q for q of the
/// summed Hessian: the means give the same.
void ImplicitMaster::build_cut(Cut& cut, const WorkerStates& states) const {
  const double length = std::sqrt(distance_);
  std::copy(cross_.begin(), cross_.end(), cut.upper.begin());
  const auto normal = [length](std::span<const double> departure, std::span<double> block) {
    std::fill(block.begin(), block.end(), 0.0);
    add_scaled(1 / length, departure, block);
  };
  normal(departure_, cut.lower_consensus);
  cut.offset = -(distance_ + level()) / (2 * length);
  for (std::vector<double>& block : cut.lower_local) std::fill(block.begin(), block.end(), 0.0);
  if (!has_copies()) return;
  for (const std::size_t i : workers_) normal(states.state(i).lower_local, cut.lower_local[i]);
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
