#include "methods/decentralized/decentralized_master.h"

#include <algorithm>
#include <limits>

#include "protocol/start_values.h"
#include "protocol/vector_math.h"

namespace adbo::detail {
namespace {

constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

void mean_of(const AgentVectors& vectors, std::span<double> out) {
  std::fill(out.begin(), out.end(), 0.0);
  const double share = 1 / static_cast<double>(vectors.size());
  for (const std::vector<double>& vector : vectors) add_scaled(share, vector, out);
}

}  // namespace

DecentralizedMaster::DecentralizedMaster(const Problem& problem, const Options& options,
                                         StepCurvature curvature)
    : SynchronousMaster(problem),
      agents_(problem.num_workers()),
      options_(options),
      sampler_(problem, options.seed, options.batch_rows),
      steps_(options, curvature),
      network_(options.graph, options.graph_probability, agents_, options.seed),
      mean_upper_(upper_start(problem)),
      mean_lower_(lower_start(problem)),
      mean_hypergradient_(problem.upper_dim()),
      value_(kNotMeasured),
      gap_(kNotMeasured) {
  // Everybody starts at the same point.
  upper_.assign(agents_, mean_upper_);
  lower_.assign(agents_, mean_lower_);
  adjoint_ = mixed_lower_ = adjoint_gradient_ = upper_gradient_lower_ = lowers();
  hypergradient_ = mixed_upper_ = uppers();
  points_.resize(agents_);
}

void DecentralizedMaster::fill(Snapshot& draft) {
  draft.upper_consensus = mean_upper_;
  draft.lower_consensus = mean_lower_;
}

MethodMaster::Outcome DecentralizedMaster::iterate(std::int64_t t) {
  steps_.settle(rounds(), mean_upper_, mean_lower_);
  advance(t);
  take_means();
  return {};
}

void DecentralizedMaster::advance(std::int64_t t) {
  for (std::int64_t k = 0; k < options_.lower_steps; ++k) step_lower(steps_.lower(t));
  improve_adjoint(steps_.adjoint(t));
  evaluate_hypergradients();
  step_upper(steps_.upper(t));
}

void DecentralizedMaster::take_means() {
  mean_of(upper_, mean_upper_);
  mean_of(lower_, mean_lower_);
  mean_of(hypergradient_, mean_hypergradient_);
  gap_ = squared_norm(mean_hypergradient_);
}

void DecentralizedMaster::evaluate(const Wanted& wanted) {
  for (std::size_t i = 0; i < agents_; ++i) {
    points_[i] = {.upper = upper_[i], .lower = lower_[i], .direction = adjoint_[i]};
  }
  const BatchDraws draws{.upper = next_draw_, .lower = next_draw_};
  ++next_draw_;
  rounds().ask_agents(wanted, points_, &sampler_, draws);
}

void DecentralizedMaster::evaluate_adjoint_gradients(bool is_first) {
  evaluate({.upper = is_first, .hessian_product = true});
  for (std::size_t i = 0; i < agents_; ++i) {
    const Evaluation& answer = rounds().answer(i);
    if (is_first) upper_gradient_lower_[i] = answer.upper_gradient_lower;
    adjoint_gradient_[i] = answer.hessian_product;
    add_scaled(-1.0, upper_gradient_lower_[i], adjoint_gradient_[i]);
  }
}

void DecentralizedMaster::evaluate_hypergradients() {
  evaluate({.upper = true, .cross_product = true});
  value_ = rounds().mean(&Evaluation::upper_value);
  for (std::size_t i = 0; i < agents_; ++i) {
    const Evaluation& answer = rounds().answer(i);
    const UpperSupport& support = rounds().problem().support(i);
    std::vector<double>& out = hypergradient_[i];
    std::fill(out.begin(), out.end(), 0.0);
    const std::span<double> part = std::span(out).subspan(support.begin, support.size);
    std::copy(answer.upper_gradient_upper.begin(), answer.upper_gradient_upper.end(), part.begin());
    add_scaled(-1.0, answer.cross_product, part);
  }
}

void DecentralizedMaster::exchange(const AgentVectors& in, AgentVectors& out) {
  network_.mix(in, out);
  rounds().count_exchange(network_.edges(), in.front().size());
}

void DecentralizedMaster::average_hypergradients(AgentVectors& average) const {
  const double weight = options_.dsbo_averaging;
  for (std::size_t i = 0; i < agents_; ++i) {
    for (double& entry : average[i]) entry *= 1 - weight;
    add_scaled(weight, hypergradient_[i], average[i]);
  }
}

void DecentralizedMaster::keep_within_bounds() {
  for (std::vector<double>& x : upper_) rounds().problem().keep_within_bounds(x);
}

double DecentralizedMaster::consensus_error() const {
  double error = 0;
  for (const std::vector<double>& x : upper_) error = std::max(error, largest_difference(x, mean_upper_));
  for (const std::vector<double>& y : lower_) error = std::max(error, largest_difference(y, mean_lower_));
  return error;
}

MethodMaster::Measurement DecentralizedMaster::stationarity_gap(Transport&) {
  return {.outcome = {}, .gap = gap_};
}

void DecentralizedMaster::describe(TraceRecord& record) const {
  record.upper_objective = value_;
  record.lower_objective = kNotMeasured;
  record.lower_distance = kNotMeasured;
}

void DecentralizedMaster::describe(Summary& summary) const {
  SynchronousMaster::describe(summary);
  summary.consensus_error = consensus_error();
}

}  // namespace adbo::detail
