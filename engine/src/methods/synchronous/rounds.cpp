#include "methods/synchronous/rounds.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>

#include "protocol/count_work.h"
#include "protocol/vector_math.h"

namespace adbo::detail {

Rounds::Rounds(const Problem& problem) : problem_(problem), everyone_(problem.num_workers()) {
  std::iota(everyone_.begin(), everyone_.end(), std::size_t{0});
  asked_.reserve(everyone_.size());
}

void Rounds::ask(const Wanted& wanted, const EvaluationPoint& point, std::span<const std::size_t> workers) {
  ask(wanted, point, workers, nullptr, {});
}

void Rounds::ask(const Wanted& wanted, const EvaluationPoint& point, const BatchSampler& sampler,
                 const BatchDraws& draws) {
  ask(wanted, point, everyone_, &sampler, draws);
}

void Rounds::prepare(std::size_t worker, const Wanted& wanted, const EvaluationPoint& point,
                     const BatchSampler* sampler, const BatchDraws& draws) {
  Request& request = transport_->request(worker);
  request.ask = Ask::kMeasure;
  request.wanted = wanted;
  request.point = point;
  request.local = {};
  request.upper_batch = sampler != nullptr ? sampler->upper(worker, draws) : Batch{};
  request.lower_batch = sampler != nullptr ? sampler->lower(worker, draws) : Batch{};
}

void Rounds::ask(const Wanted& wanted, const EvaluationPoint& point, std::span<const std::size_t> workers,
                 const BatchSampler* sampler, const BatchDraws& draws) {
  choose(workers);
  const EvaluationPoint copy = common_point_.take(point);
  for (const std::size_t worker : asked_) {
    prepare(worker, wanted, copy, sampler, draws);
  }
  exchange();
  count_messages();
  count_bytes(wanted);
}

void Rounds::ask_local_steps(const LocalSteps& local, const EvaluationPoint& point) {
  choose(everyone_);
  const EvaluationPoint copy = common_point_.take(point);
  correction_.assign(local.correction.begin(), local.correction.end());
  for (const std::size_t worker : asked_) {
    prepare(worker, {}, copy, nullptr, {});
    transport_->request(worker).local = local;
    transport_->request(worker).local.correction = correction_;
  }
  exchange();
  count_messages();
  const std::size_t m = problem_.lower_dim();
  for (const std::size_t worker : asked_) {
    const std::size_t n = problem_.support(worker).size;
    const std::size_t stepped = local.variable == LocalSteps::Variable::kLower ? m : n;
    // There: the point, and the correction; back: where the steps went.
    const std::size_t numbers = n + m + (local.is_corrected ? 2 : 1) * stepped;
    counts_.bytes += static_cast<std::int64_t>(sizeof(double) * numbers);
  }
}

void Rounds::ask_agents(const Wanted& wanted, std::span<const EvaluationPoint> points,
                        const BatchSampler* sampler, const BatchDraws& draws) {
  choose(everyone_);
  own_points_.resize(points.size());
  for (const std::size_t worker : asked_) {
    prepare(worker, wanted, own_points_[worker].take(points[worker]), sampler, draws);
  }
  exchange();
}

void Rounds::count_exchange(std::size_t edges, std::size_t numbers) {
  counts_.messages += static_cast<std::int64_t>(2 * edges);
  counts_.bytes += static_cast<std::int64_t>(2 * edges * numbers * sizeof(double));
}

void Rounds::choose(std::span<const std::size_t> workers) {
  asked_.clear();
  for (const std::size_t worker : workers) {
    if (!transport_->is_dropped(worker)) asked_.push_back(worker);
  }
}

void Rounds::exchange() {
  const double before = transport_->now_seconds();
  const bool complete = transport_->exchange(asked_, Transport::Timing::kTimed);
  seconds_ += transport_->now_seconds() - before;
  inspect(complete);
  ++counts_.rounds;
  for (const std::size_t worker : asked_) add_work(counts_, transport_->reply(worker).work);
}

void Rounds::inspect(bool complete) const {
  if (!complete) throw RoundEnded({.interrupted = true});
  for (const std::size_t worker : asked_) {
    if (std::optional<WorkerIncident> incident = transport_->reply_incident(worker)) {
      throw RoundEnded({.incident = std::move(incident)});
    }
  }
}

void Rounds::count_messages() { counts_.messages += static_cast<std::int64_t>(2 * asked_.size()); }

void Rounds::count_bytes(const Wanted& wanted) {
  for (const std::size_t worker : asked_) {
    counts_.bytes += static_cast<std::int64_t>(sizeof(double) * numbers_sent(wanted, worker));
  }
}

/// There: x on the support, y, and u where a product is wanted; back: what is wanted.
std::size_t Rounds::numbers_sent(const Wanted& wanted, std::size_t worker) const {
  const std::size_t n = problem_.support(worker).size, m = problem_.lower_dim();
  const Evaluation& evaluation = answer(worker);
  std::size_t numbers = n + m;
  if (wanted.hessian_product || wanted.cross_product) numbers += m;
  if (wanted.upper) numbers += 1 + m + evaluation.upper_gradient_upper.size();
  if (wanted.lower) numbers += 1 + m;
  if (wanted.hessian_product) numbers += m;
  if (wanted.cross_product) numbers += n;
  if (wanted.lower_slope) numbers += n;
  if (wanted.curvature) numbers += evaluation.curvature.size();
  return numbers;
}

double Rounds::mean(double Evaluation::*value) const {
  double sum = 0;
  for (const std::size_t worker : asked_) sum += answer(worker).*value;
  return sum / static_cast<double>(asked_.size());
}

void Rounds::mean(std::vector<double> Evaluation::*vector, std::span<double> out) const {
  const double share = 1 / static_cast<double>(asked_.size());
  std::fill(out.begin(), out.end(), 0.0);
  for (const std::size_t worker : asked_) add_scaled(share, answer(worker).*vector, out);
}

void Rounds::mean_on_supports(std::vector<double> Evaluation::*vector, std::span<double> out) const {
  const double share = 1 / static_cast<double>(asked_.size());
  std::fill(out.begin(), out.end(), 0.0);
  for (const std::size_t worker : asked_) {
    const UpperSupport& support = problem_.support(worker);
    add_scaled(share, answer(worker).*vector, out.subspan(support.begin, support.size));
  }
}

}  // namespace adbo::detail
