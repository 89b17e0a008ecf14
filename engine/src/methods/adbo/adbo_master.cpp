#include "methods/adbo/adbo_master.h"

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
/// Iterations between two fresh sums of theta_i: what an incremental sum drifts in between is far below any
/// tolerance.
constexpr std::int64_t kResumInterval = 256;

}  // namespace

AdboMaster::AdboMaster(const Problem& problem, const Options& options, std::shared_ptr<CutPool> pool)
    : problem_(problem),
      options_(options),
      pool_(std::move(pool)),
      polytope_(*pool_, problem.num_workers(), static_cast<std::size_t>(options.max_cuts)),
      update_(problem, options),
      upper_consensus_(upper_start(problem)),
      lower_consensus_(lower_start(problem)),
      gradient_(std::max(problem.upper_dim(), problem.lower_dim())),
      upper_value_(problem.num_workers(), kNotMeasured),
      lower_objective_(kNotMeasured),
      lower_distance_(kNotMeasured) {
  const std::vector<double> dual = or_zeros(problem.start().consensus_dual, problem.upper_dim());
  for (std::size_t i = 0; i < problem.num_workers(); ++i) {
    local_.push_back(local_upper(problem, options, i));
    const auto begin = dual.begin() + static_cast<std::ptrdiff_t>(local_[i].begin);
    consensus_dual_.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(local_[i].size));
  }
  workers_.resize(problem.num_workers());
  std::iota(workers_.begin(), workers_.end(), std::size_t{0});
  if (!eliminates_upper_copies(problem, options)) resum_consensus_duals();
}

void AdboMaster::fill(Snapshot& draft) {
  draft.upper_consensus = upper_consensus_;
  draft.lower_consensus = lower_consensus_;
  polytope_.pin_into(draft);
}

void AdboMaster::fill_step(Request& request, std::size_t worker) const {
  request.consensus_dual = consensus_dual_[worker];
}

void AdboMaster::step(std::int64_t t, std::span<const std::size_t> active, const WorkerStates& states) {
  absorb(active, states);
  step_upper_consensus();
  step_lower_consensus();
  step_multipliers(t);
  if (!consensus_dual_sum_.empty()) step_consensus_duals(t, active, states);
}

void AdboMaster::drop(std::size_t worker) {
  std::erase(workers_, worker);
  counts_.cuts_dropped += static_cast<std::int64_t>(polytope_.drop_all());
  upper_value_[worker] = kNotMeasured;
  if (consensus_dual_sum_.empty()) return;
  std::fill(consensus_dual_[worker].begin(), consensus_dual_[worker].end(), 0.0);
  resum_consensus_duals();
}

void AdboMaster::absorb(std::span<const std::size_t> active, const WorkerStates& states) {
  for (const std::size_t i : active) {
    const UpdateMessage& update = states.state(i);
    upper_value_[i] = update.upper_value;
    polytope_.absorb(i, update);
    add_work(counts_, update.work);
  }
  counts_.messages += static_cast<std::int64_t>(2 * active.size());
  for (const std::size_t i : active) {
    // There: theta_i, v and z, lambda; back: x_i, y_i and b_il . y_i.
    const std::size_t numbers = 2 * local_[i].size + 2 * problem_.lower_dim() + 2 * polytope_.size();
    counts_.bytes += static_cast<std::int64_t>(sizeof(double) * numbers);
  }
}

/// new_27: v <- v - eta_v (sum_l lambda_l a_l - sum_i theta_i).
void AdboMaster::step_upper_consensus() {
  const std::span<double> gradient(gradient_.data(), upper_consensus_.size());
  std::fill(gradient.begin(), gradient.end(), 0.0);
  if (!consensus_dual_sum_.empty()) add_scaled(-1.0, consensus_dual_sum_, gradient);
  for (std::size_t l = 0; l < polytope_.size(); ++l) {
    if (polytope_.multiplier(l) != 0) add_scaled(polytope_.multiplier(l), polytope_.cut(l).upper, gradient);
  }
  add_scaled(-options_.step_upper_consensus, gradient, upper_consensus_);
  problem_.keep_within_bounds(upper_consensus_);
}

/// new_28: z <- z - eta_z sum_l lambda_l c_l.
void AdboMaster::step_lower_consensus() {
  const std::span<double> gradient(gradient_.data(), lower_consensus_.size());
  std::fill(gradient.begin(), gradient.end(), 0.0);
  for (std::size_t l = 0; l < polytope_.size(); ++l) {
    if (polytope_.multiplier(l) != 0)
      add_scaled(polytope_.multiplier(l), polytope_.cut(l).lower_consensus, gradient);
  }
  add_scaled(-options_.step_lower_consensus, gradient, lower_consensus_);
}

/// a_l.v + sum_i b_il.y_i + c_l.z + kappa_l.
double AdboMaster::cut_value(std::size_t l) const {
  const Cut& cut = polytope_.cut(l);
  return dot(cut.upper, upper_consensus_) + polytope_.local_product(l) +
         dot(cut.lower_consensus, lower_consensus_) + cut.offset;
}

/// new_29, projected on lambda >= 0 (the drop rule needs exact zeros) and on lambda^2 <= alpha_3 where given.
void AdboMaster::step_multipliers(std::int64_t t) {
  const double c1 = regularization_at(options_, t, options_.step_cut_multiplier,
                                      options_.cut_regularization_floor, options_.cut_regularization);
  const double highest = options_.multiplier_bound > 0 ? std::sqrt(options_.multiplier_bound)
                                                       : std::numeric_limits<double>::infinity();
  for (std::size_t l = 0; l < polytope_.size(); ++l) {
    const double lambda = polytope_.multiplier(l);
    const double ascended = lambda + options_.step_cut_multiplier * (cut_value(l) - c1 * lambda);
    // A NaN has to stay one (clamp keeps it), so that a divergence is seen.
    polytope_.set_multiplier(l, std::clamp(ascended, 0.0, highest));
  }
}

/// new_30 for the active workers: theta_i <- theta_i + eta_theta (x_i - v - c2 theta_i).
void AdboMaster::step_consensus_duals(std::int64_t t, std::span<const std::size_t> active,
                                      const WorkerStates& states) {
  const double c2 = regularization_at(options_, t, options_.step_consensus_dual,
                                      options_.dual_regularization_floor, options_.dual_regularization);
  const double eta = options_.step_consensus_dual;
  for (const std::size_t i : active) {
    const std::vector<double>& x = states.state(i).upper_local;
    std::vector<double>& theta = consensus_dual_[i];
    const std::span<const double> v = std::span(upper_consensus_).subspan(local_[i].begin, local_[i].size);
    const std::span<double> sum = std::span(consensus_dual_sum_).subspan(local_[i].begin, local_[i].size);
    for (std::size_t k = 0; k < theta.size(); ++k) {
      const double change = eta * (x[k] - v[k] - c2 * theta[k]);
      theta[k] += change;
      sum[k] += change;
    }
    if (options_.dual_bound <= 0) continue;
    const double norm = std::sqrt(squared_norm(theta)), bound = std::sqrt(options_.dual_bound);
    if (norm <= bound) continue;
    for (std::size_t k = 0; k < theta.size(); ++k) {
      const double projected = theta[k] * (bound / norm);
      sum[k] += projected - theta[k];
      theta[k] = projected;
    }
  }
  if (++steps_since_resum_ >= kResumInterval) resum_consensus_duals();
}

void AdboMaster::resum_consensus_duals() {
  consensus_dual_sum_.assign(problem_.upper_dim(), 0.0);
  for (std::size_t i = 0; i < consensus_dual_.size(); ++i) {
    add_scaled(1.0, consensus_dual_[i],
               std::span(consensus_dual_sum_).subspan(local_[i].begin, local_[i].size));
  }
  steps_since_resum_ = 0;
}

MethodMaster::Outcome AdboMaster::collective(std::int64_t t, std::span<const std::size_t> active,
                                             Transport& transport) {
  if (!PolytopeUpdate::due(options_, t)) return {};
  const bool restart = options_.cut_barrier == CutBarrier::kRestart;
  const double before = transport.now_seconds();

  counts_.cuts_dropped += static_cast<std::int64_t>(polytope_.drop_inactive(options_.drop_rule));
  // The published snapshot carries the v at which phi is estimated.
  broadcast(*this, transport, t + 1, restart ? active : std::span<const std::size_t>());
  if (!(restart ? transport.discard_all() : transport.hold_all())) return {.interrupted = true};
  barrier_seconds_ += transport.now_seconds() - before;

  Cut& cut = pool_->take();
  const PolytopeUpdate::Result result =
      update_.run(workers_, upper_consensus_, lower_consensus_, transport, cut, local_products_, counts_);
  barrier_seconds_ += result.barrier_seconds;
  // The cut stays pinned then: a worker that was given up may still write its block.
  if (!result.outcome.complete()) return result.outcome;
  lower_distance_ = result.distance;
  lower_objective_ = result.lower_objective;

  const bool wanted = options_.cut_rule == CutRule::kAlways || result.distance > options_.lower_tolerance;
  if (wanted) {
    counts_.cuts_dropped += static_cast<std::int64_t>(polytope_.evict_if_full());
    cut.serial = counts_.cuts_added++;
    polytope_.add(cut, local_products_);
  } else {
    pool_->unpin(cut);
  }
  return {.answer_all = restart};
}

MethodMaster::Measurement AdboMaster::stationarity_gap(Transport& transport) {
  if (!transport.settle()) return {.outcome = {.interrupted = true}};
  for (const std::size_t i : workers_) {
    Request& request = transport.request(i);
    request.ask = Ask::kMeasure;
    request.consensus_dual = consensus_dual_[i];
    request.reference_upper = transport.state(i).upper_local;
    request.reference_lower = transport.state(i).lower_local;
  }
  if (!transport.exchange(workers_, Transport::Timing::kUntimed)) return {.outcome = {.interrupted = true}};

  Measurement measurement;
  for (const std::size_t i : workers_) {
    measurement.outcome.incident = transport.reply_incident(i);
    if (measurement.outcome.incident) return measurement;
    const RoundMessage& reply = transport.reply(i);
    measurement.gap += reply.gap_upper + reply.gap_lower;
  }
  measurement.gap += consensus_gap(transport);
  return measurement;
}

/// The master's blocks of ||grad G||^2: in v, z, lambda and theta.
double AdboMaster::consensus_gap(const WorkerStates& states) const {
  std::vector<double> upper(upper_consensus_.size(), 0.0), lower(lower_consensus_.size(), 0.0);
  double gap = 0;
  for (std::size_t l = 0; l < polytope_.size(); ++l) {
    add_scaled(polytope_.multiplier(l), polytope_.cut(l).upper, upper);
    add_scaled(polytope_.multiplier(l), polytope_.cut(l).lower_consensus, lower);
    gap += cut_value(l) * cut_value(l);
  }
  if (!consensus_dual_sum_.empty()) add_scaled(-1.0, consensus_dual_sum_, upper);
  gap += squared_norm(upper) + squared_norm(lower);
  for (const std::size_t i : workers_) {
    const std::vector<double>& x = states.state(i).upper_local;
    for (std::size_t k = 0; k < local_[i].size; ++k) {
      const double difference = x[k] - upper_consensus_[local_[i].begin + k];
      gap += difference * difference;
    }
  }
  return gap;
}

void AdboMaster::describe(TraceRecord& record) const {
  double sum = 0;
  std::size_t heard = 0;
  for (const double value : upper_value_) {
    if (std::isnan(value)) continue;
    sum += value;
    ++heard;
  }
  record.upper_objective = heard > 0 ? sum / static_cast<double>(heard) : kNotMeasured;
  record.lower_objective = lower_objective_ / static_cast<double>(workers_.size());
  record.lower_distance = lower_distance_;
  record.cuts = static_cast<std::int64_t>(polytope_.size());
}

void AdboMaster::describe(Summary& summary) const {
  summary.counts = counts_;
  summary.counts.cuts_alive = static_cast<std::int64_t>(polytope_.size());
  summary.barrier_virtual_seconds = barrier_seconds_;
}

}  // namespace adbo::detail
