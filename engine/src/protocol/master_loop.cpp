#include "protocol/master_loop.h"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "protocol/vector_math.h"

namespace adbo::detail {
namespace {

constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

double cpu_seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double seconds_since(RunLimits::Instant start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

void send_steps(const MethodMaster& method, Transport& transport, std::int64_t iteration,
                std::span<const std::size_t> workers) {
  for (const std::size_t worker : workers) {
    Request& request = transport.request(worker);
    request.ask = Ask::kStep;
    request.iteration = iteration;
    method.fill_step(request, worker);
    transport.send_step(worker);
  }
}

void broadcast(MethodMaster& method, Transport& transport, std::int64_t iteration,
               std::span<const std::size_t> workers) {
  Snapshot& draft = transport.draft();
  draft.iteration = iteration;
  method.fill(draft);
  transport.publish();
  send_steps(method, transport, iteration, workers);
}

MasterLoop::MasterLoop(const Options& options, MethodMaster& method, Transport& transport,
                       const RunLimits& limits, Observer* observer)
    : options_(options),
      method_(method),
      transport_(transport),
      limits_(limits),
      observer_(observer),
      active_(transport.num_workers(), static_cast<std::size_t>(options.active_workers),
              options.max_staleness),
      everyone_(transport.num_workers()),
      last_gap_(kNotMeasured) {
  std::iota(everyone_.begin(), everyone_.end(), std::size_t{0});
}

void MasterLoop::run(Summary& summary) {
  summary_ = &summary;
  wall_start_ = std::chrono::steady_clock::now();
  cpu_start_ = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
  const auto start = method_.upper_consensus();
  upper_start_.assign(start.begin(), start.end());
  summary.iterations = 0;
  summary.staleness_histogram.assign(static_cast<std::size_t>(options_.max_staleness) + 1, 0);

  const bool sends_steps = options_.iterations > 0 && method_.is_fed_by_arrivals();
  broadcast(method_, transport_, 0, sends_steps ? everyone_ : std::span<const std::size_t>());
  if (observe(0, 0, 0)) {
    std::int64_t t = 0;
    while (t < options_.iterations && iterate(t)) ++t;
    if (t == options_.iterations) end(Termination::kIterationLimit);
  }

  summary.wall_seconds = wall_seconds();
  summary.cpu_seconds = run_cpu_seconds();
  summary.virtual_seconds = run_seconds(summary.wall_seconds);
  summary.upper_change_max = largest_difference(final_upper(), upper_start_);
  method_.describe(summary);
}

std::span<const double> MasterLoop::final_upper() const {
  return diverged() ? transport_.current().upper_consensus : method_.upper_consensus();
}

std::span<const double> MasterLoop::final_lower() const {
  return diverged() ? transport_.current().lower_consensus : method_.lower_consensus();
}

bool MasterLoop::diverged() const { return summary_->termination == Termination::kDiverged; }

bool MasterLoop::iterate(std::int64_t t) {
  if (limits_.interrupted()) return end_interrupted();
  const bool fed = method_.is_fed_by_arrivals();
  std::span<const std::size_t> active = everyone_;
  if (fed) {
    if (!collect(t)) return false;
    active = active_.finish();
    method_.step(t, active, transport_);
    if (!end_if_running_away(t)) return false;
  }
  const MethodMaster::Outcome outcome = method_.collective(t, active, transport_);
  if (!accept_outcome(outcome, t)) return false;
  if (outcome.answer_all || !fed) active_.mark_all(t);
  if (!fed && !end_if_running_away(t)) return false;
  summary_->iterations = t + 1;

  // The snapshot is published even when nobody is answered any more: it is the state that a measurement
  // reads.
  broadcast(method_, transport_, t + 1, {});
  if (!measure_if_due(t + 1)) return false;
  if (!observe(t + 1, active.size(), active_.longest_silence(t))) return false;
  if (outcome.ending) return end(outcome.ending->termination, outcome.ending->message);
  if (summary_->stationarity_iteration >= 0) return end(Termination::kConverged);
  if (fed && t + 1 < options_.iterations) {
    send_steps(method_, transport_, t + 1,
               outcome.answer_all ? std::span<const std::size_t>(everyone_) : active);
  }
  return true;
}

bool MasterLoop::collect(std::int64_t t) {
  active_.begin(t);
  while (!active_.complete()) {
    const std::optional<std::size_t> worker = transport_.next_update();
    if (!worker) return end_interrupted();
    transport_.accept(*worker);
    const UpdateMessage& update = transport_.state(*worker);
    if (update.failure.failed) {
      return end_with(
          {.worker = *worker, .non_finite = update.failure.non_finite, .what = update.failure.what}, t);
    }
    active_.add(*worker);
    const std::size_t age = static_cast<std::size_t>(std::max<std::int64_t>(0, t - update.iteration));
    ++summary_->staleness_histogram[std::min(age, summary_->staleness_histogram.size() - 1)];
  }
  return true;
}

bool MasterLoop::measure_if_due(std::int64_t completed) {
  last_gap_ = kNotMeasured;
  if (options_.stationarity_interval == 0 || completed % options_.stationarity_interval != 0) return true;
  const MethodMaster::Measurement measurement = method_.stationarity_gap(transport_);
  if (!accept_outcome(measurement.outcome, completed)) return false;
  last_gap_ = measurement.gap;
  summary_->stationarity_gap = measurement.gap;
  if (options_.stationarity_target > 0 && measurement.gap <= options_.stationarity_target) {
    summary_->stationarity_iteration = completed;
  }
  return true;
}

bool MasterLoop::observe(std::int64_t completed, std::size_t active, std::int64_t silence) {
  if (observer_ == nullptr) return true;
  TraceRecord record;
  record.iteration = completed;
  record.wall_seconds = wall_seconds();
  record.cpu_seconds = run_cpu_seconds();
  record.virtual_seconds = run_seconds(record.wall_seconds);
  record.stationarity_gap = last_gap_;
  record.active = static_cast<std::int64_t>(active);
  record.max_staleness = silence;
  method_.describe(record);

  const auto start = std::chrono::steady_clock::now();
  const double cpu_before = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
  const ObserverAction action = observer_->on_iteration(
      {.record = record, .upper = method_.upper_consensus(), .lower = method_.lower_consensus()});
  observer_wall_ += seconds_since(start);
  observer_cpu_ += cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - cpu_before;
  if (action == ObserverAction::kContinue) return true;
  return end(Termination::kStopped, action == ObserverAction::kAbort ? "aborted by the observer" : "");
}

bool MasterLoop::end_if_running_away(std::int64_t t) {
  for (const auto& [name, values] : {std::pair{"the upper variable v", method_.upper_consensus()},
                                     std::pair{"the lower variable z", method_.lower_consensus()}}) {
    if (!all_bounded(values)) {
      return end(Termination::kDiverged,
                 std::string(name) +
                     (all_finite(values) ? " is running away (beyond 1e12)" : " is not finite") +
                     " after iteration " + std::to_string(t + 1));
    }
  }
  return true;
}

bool MasterLoop::end(Termination termination, std::string message) {
  summary_->termination = termination;
  summary_->message = std::move(message);
  return false;
}

bool MasterLoop::end_interrupted() {
  return end(limits_.stop_requested() ? Termination::kStopped : Termination::kTimeLimit);
}

bool MasterLoop::end_with(const WorkerIncident& incident, std::int64_t completed) {
  return end(incident.non_finite ? Termination::kDiverged : Termination::kFailed,
             "worker " + std::to_string(incident.worker) + ", iteration " + std::to_string(completed + 1) +
                 ": " + incident.what);
}

bool MasterLoop::accept_outcome(const MethodMaster::Outcome& outcome, std::int64_t completed) {
  if (outcome.complete()) return true;
  return outcome.incident ? end_with(*outcome.incident, completed) : end_interrupted();
}

/// The delay model's time; under the real clock, whose time goes on while an observer works, the wall time
/// without that.
double MasterLoop::run_seconds(double wall) const {
  return options_.clock == ClockKind::kVirtual ? transport_.now_seconds() : wall;
}

double MasterLoop::run_cpu_seconds() const {
  return cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_start_ - observer_cpu_;
}

double MasterLoop::wall_seconds() const { return seconds_since(wall_start_) - observer_wall_; }

}  // namespace adbo::detail
