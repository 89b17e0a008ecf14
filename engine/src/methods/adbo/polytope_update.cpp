#include "methods/adbo/polytope_update.h"

#include <algorithm>
#include <optional>

#include "protocol/count_work.h"
#include "protocol/vector_math.h"

namespace adbo::detail {
namespace {

/// sum_i reply(i).*member into `sum`, in worker order.
void sum_replies(const Transport& transport, std::span<const std::size_t> workers,
                 std::vector<double> RoundMessage::*member, std::span<double> sum) {
  std::fill(sum.begin(), sum.end(), 0.0);
  for (const std::size_t i : workers) add_scaled(1.0, transport.reply(i).*member, sum);
}

}  // namespace

PolytopeUpdate::PolytopeUpdate(const Problem& problem, const Options& options)
    : problem_(problem),
      options_(options),
      steps_(round_steps(options)),
      consensus_(problem.lower_dim()),
      next_consensus_(problem.lower_dim()),
      dual_(problem.num_workers(), std::vector<double>(problem.lower_dim())),
      dual_sum_(problem.lower_dim()),
      point_sum_(problem.lower_dim()),
      adjoint_(problem.lower_dim()),
      dual_adjoint_sum_(problem.lower_dim()),
      local_adjoint_sum_(problem.lower_dim()) {}

bool PolytopeUpdate::due(const Options& options, std::int64_t t) {
  if (options.cut_until >= 0 && t >= options.cut_until) return false;
  const std::int64_t phase = options.cut_phase == CutPhase::kFromStart ? t : t + 1;
  return phase % options.cut_interval == 0;
}

PolytopeUpdate::Result PolytopeUpdate::run(std::span<const std::size_t> workers,
                                           std::span<const double> upper_consensus,
                                           std::span<const double> lower_consensus, Transport& transport,
                                           Cut& cut, std::vector<double>& local_products, Counts& counts) {
  workers_ = workers;
  cut_ = &cut;
  local_products_ = &local_products;
  result_ = {};
  std::fill(cut.upper.begin(), cut.upper.end(), 0.0);
  local_products.assign(problem_.num_workers(), 0.0);

  const bool exact = options_.cut_gradient == CutGradient::kExact;
  const bool complete = forward_rounds(lower_consensus, transport, counts) &&
                        (exact ? reverse_rounds(transport, counts) : isolated_gradient(transport, counts));
  if (complete) assemble(upper_consensus, lower_consensus, transport);
  return result_;
}

/// The transport's answer to an exchange as an outcome: an interruption, a worker's failure, or nothing.
MethodMaster::Outcome PolytopeUpdate::inspect(bool complete, const Transport& transport) const {
  if (!complete) return {.interrupted = true};
  for (const std::size_t i : workers_) {
    if (std::optional<WorkerIncident> incident = transport.reply_incident(i)) return {.incident = incident};
  }
  return {};
}

bool PolytopeUpdate::exchange(Transport& transport, Counts& counts) {
  const double before = transport.now_seconds();
  const bool complete = transport.exchange(workers_, Transport::Timing::kTimed);
  result_.barrier_seconds += transport.now_seconds() - before;
  result_.outcome = inspect(complete, transport);
  if (!result_.outcome.complete()) return false;
  for (const std::size_t i : workers_) {
    add_work(counts, transport.reply(i).work);
  }
  counts.messages += static_cast<std::int64_t>(2 * workers_.size());
  // There: z' and phi_i; back: one vector of the lower variable's size (the reverse: two, and the gradient in
  // v).
  counts.bytes += static_cast<std::int64_t>(3 * sizeof(double) * workers_.size() * problem_.lower_dim());
  return true;
}

void PolytopeUpdate::request_forward(std::int64_t round, Transport& transport) {
  const bool last = round + 1 == options_.lower_rounds;
  for (const std::size_t i : workers_) {
    const UpdateMessage& state = transport.state(i);
    Request& request = transport.request(i);
    request.ask = Ask::kForward;
    request.round = round;
    request.last_round = last;
    request.with_adjoint = last && options_.cut_gradient == CutGradient::kExact;
    request.start_from_reference = options_.cut_barrier == CutBarrier::kHold;
    request.reference_upper = state.upper_local;
    request.reference_lower = state.lower_local;
    request.round_consensus = consensus_;
    request.round_dual = dual_[i];
    request.consensus_adjoint = adjoint_;
    request.new_cut = cut_;
  }
}

bool PolytopeUpdate::forward_rounds(std::span<const double> lower_consensus, Transport& transport,
                                    Counts& counts) {
  std::copy(lower_consensus.begin(), lower_consensus.end(), consensus_.begin());
  for (std::vector<double>& dual : dual_) std::fill(dual.begin(), dual.end(), 0.0);
  std::fill(dual_sum_.begin(), dual_sum_.end(), 0.0);
  std::fill(point_sum_.begin(), point_sum_.end(), 0.0);
  for (const std::size_t i : workers_) add_scaled(1.0, transport.state(i).lower_local, point_sum_);

  for (std::int64_t k = 0; k < options_.lower_rounds; ++k) {
    // 97_36 uses y'_k, which is known: z'_{k+1} does not wait for this round's answers (paper order), and
    // zbar_K, which the last forward exchange needs to begin the reverse, can travel with it. Only where the
    // workers start at a y'_0 of their own does z'_1 have to wait; a reverse that begins with round 0 ends
    // there and does not read zbar.
    const bool paper_order = options_.lower_round_order == LowerRoundOrder::kPaper;
    const bool starts_unknown = k == 0 && options_.cut_barrier == CutBarrier::kRestart;
    if (paper_order && !starts_unknown) predict_consensus(lower_consensus);
    request_forward(k, transport);
    if (!exchange(transport, counts)) return false;
    if (paper_order && starts_unknown) {
      sum_replies(transport, workers_, &RoundMessage::start, point_sum_);
      predict_consensus(lower_consensus);
    }
    if (k == 0) {
      for (const std::size_t i : workers_) result_.lower_objective += transport.reply(i).lower_value;
    }
    advance(transport);
  }
  // What the answers to the last forward exchange say of the cut.
  for (const std::size_t i : workers_) {
    result_.distance += transport.reply(i).distance;
    (*local_products_)[i] = transport.reply(i).product;
  }
  return true;
}

/// 97_36 in the paper's order: z'_{k+1} from z'_k, phi_k and y'_k, and zbar_K should it be the last.
void PolytopeUpdate::predict_consensus(std::span<const double> lower_consensus) {
  next_consensus_ = consensus_;
  kernels::consensus_round(steps_, workers_.size(), dual_sum_, point_sum_, next_consensus_);
  for (std::size_t j = 0; j < adjoint_.size(); ++j)
    adjoint_[j] = -2 * (lower_consensus[j] - next_consensus_[j]);
}

/// 97_36 and 97_37 in the chosen order, with the answers y'_{k+1}.
void PolytopeUpdate::advance(const Transport& transport) {
  sum_replies(transport, workers_, &RoundMessage::point, point_sum_);
  const auto update_duals = [&] {
    std::fill(dual_sum_.begin(), dual_sum_.end(), 0.0);
    for (const std::size_t i : workers_) {
      kernels::dual_round(steps_, transport.reply(i).point, consensus_, dual_[i]);
      add_scaled(1.0, dual_[i], dual_sum_);
    }
  };
  switch (options_.lower_round_order) {
    case LowerRoundOrder::kPaper:
      consensus_.swap(next_consensus_);
      update_duals();
      break;
    case LowerRoundOrder::kDualFirst:
      update_duals();
      kernels::consensus_round(steps_, workers_.size(), dual_sum_, point_sum_, consensus_);
      break;
    case LowerRoundOrder::kConsensusFirst:
      next_consensus_ = consensus_;
      kernels::consensus_round(steps_, workers_.size(), dual_sum_, point_sum_, next_consensus_);
      update_duals();
      consensus_.swap(next_consensus_);
      break;
  }
}

/// The rounds K-2 ... 0 backwards; round K-1 was reversed together with its forward exchange.
bool PolytopeUpdate::reverse_rounds(Transport& transport, Counts& counts) {
  for (std::int64_t k = options_.lower_rounds - 2; k >= 0; --k) {
    sum_replies(transport, workers_, &RoundMessage::local_adjoint, local_adjoint_sum_);
    sum_replies(transport, workers_, &RoundMessage::dual_adjoint, dual_adjoint_sum_);
    kernels::reverse_consensus_round(steps_, workers_.size(), local_adjoint_sum_, adjoint_);
    kernels::correct_consensus_adjoint(steps_, dual_adjoint_sum_, adjoint_);
    for (const std::size_t i : workers_) {
      Request& request = transport.request(i);
      request.ask = Ask::kReverse;
      request.round = k;
      request.consensus_adjoint = adjoint_;
    }
    if (!exchange(transport, counts)) return false;
  }
  return true;
}

/// One further round of every worker alone, then the gradient through its own rounds (the authors' code).
bool PolytopeUpdate::isolated_gradient(Transport& transport, Counts& counts) {
  for (const std::size_t i : workers_) {
    Request& request = transport.request(i);
    request.ask = Ask::kIsolatedRound;
    request.round = options_.lower_rounds;
    request.last_round = false;
    request.round_consensus = consensus_;
    request.round_dual = dual_[i];
  }
  if (!exchange(transport, counts)) return false;
  for (const std::size_t i : workers_) {
    Request& request = transport.request(i);
    request.ask = Ask::kIsolatedGradient;
    request.frozen = options_.cut_gradient == CutGradient::kLocalFrozen;
  }
  return exchange(transport, counts);
}

/// Eq. cuts: a, c and kappa; the workers have written their own blocks b_i.
void PolytopeUpdate::assemble(std::span<const double> upper_consensus,
                              std::span<const double> lower_consensus, const Transport& transport) {
  Cut& cut = *cut_;
  for (const std::size_t i : workers_) {
    const UpperSupport& support = problem_.support(i);
    add_scaled(1.0, transport.reply(i).upper_gradient,
               std::span(cut.upper).subspan(support.begin, support.size));
  }
  for (std::size_t j = 0; j < cut.lower_consensus.size(); ++j) {
    cut.lower_consensus[j] = 2 * (lower_consensus[j] - consensus_[j]);
  }
  result_.distance += 0.25 * squared_norm(cut.lower_consensus);
  cut.offset = result_.distance - options_.lower_tolerance - dot(cut.upper, upper_consensus) -
               dot(cut.lower_consensus, lower_consensus);
  for (const double product : *local_products_) cut.offset -= product;
}

}  // namespace adbo::detail
