#include "protocol/master_loop.h"

#include <time.h>

#include <algorithm>
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
                       const RunLimits& limits, Observer* observer, CheckpointPlan checkpoints)
    : options_(options),
      method_(method),
      transport_(transport),
      limits_(limits),
      observer_(observer),
      checkpoints_(std::move(checkpoints)),
      active_(transport.num_workers(), static_cast<std::size_t>(options.active_workers),
              options.max_staleness),
      everyone_(transport.num_workers()),
      last_gap_(kNotMeasured) {
  std::iota(everyone_.begin(), everyone_.end(), std::size_t{0});
}

void MasterLoop::run(Summary& summary) {
  begin(summary);
  if (begin_run()) go_on();
  finish();
}

void MasterLoop::resume(StateArchive& saved, Summary& summary) {
  begin(summary);
  persist(saved);
  if (saved.bytes_left() != 0) throw BadState("the state has more than this run's");
  stored_iteration_ = phase_ == Phase::kBetween ? t_ : -1;
  broadcast(method_, transport_, t_, {});
  if (observer_ != nullptr && observer_->has_ended()) {
    end(Termination::kStopped);
  } else if (conclude_iteration()) {
    go_on();
  }
  finish();
}

void MasterLoop::begin(Summary& summary) {
  summary_ = &summary;
  wall_start_ = std::chrono::steady_clock::now();
  cpu_start_ = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
  const auto start = method_.upper_consensus();
  upper_start_.assign(start.begin(), start.end());
  summary.iterations = 0;
  summary.staleness_histogram.assign(static_cast<std::size_t>(options_.max_staleness) + 1, 0);
}

/// False: an observer has ended the run before it began.
bool MasterLoop::begin_run() {
  broadcast(method_, transport_, 0, {});
  if (method_.is_fed_by_arrivals()) waiting_ = everyone_;
  phase_ = Phase::kBetween;
  if (observer_ != nullptr) unobserved_ = record_of(0, 0, 0);
  return conclude_iteration();
}

void MasterLoop::go_on() {
  for (;;) {
    if (phase_ == Phase::kBetween) note_checkpoint_if_due();
    if (t_ >= options_.iterations) {
      end(Termination::kIterationLimit);
      return;
    }
    answer_waiting();
    if (!iterate(t_)) return;
  }
}

void MasterLoop::finish() {
  if (checkpoints_.sink != nullptr && checkpoints_.sink->is_due_at_end(summary_->termination)) {
    store_last_checkpoint();
  }
  summary_->wall_seconds = wall_seconds();
  summary_->cpu_seconds = run_cpu_seconds();
  summary_->virtual_seconds = run_seconds(summary_->wall_seconds);
  summary_->upper_change_max = largest_difference(final_upper(), upper_start_);
  method_.describe(*summary_);
}

std::span<const double> MasterLoop::final_upper() const {
  return diverged() ? transport_.current().upper_consensus : method_.upper_consensus();
}

std::span<const double> MasterLoop::final_lower() const {
  return diverged() ? transport_.current().lower_consensus : method_.lower_consensus();
}

bool MasterLoop::diverged() const { return summary_->termination == Termination::kDiverged; }

void MasterLoop::answer_waiting() {
  send_steps(method_, transport_, t_, waiting_);
  waiting_.clear();
}

bool MasterLoop::iterate(std::int64_t t) {
  if (limits_.interrupted()) return end_interrupted();
  if (phase_ == Phase::kBetween) phase_ = Phase::kStepping;
  const bool fed = method_.is_fed_by_arrivals();
  std::span<const std::size_t> active = everyone_;
  if (fed) {
    if (!collect(t)) return false;
    active = active_.finish();
    method_.step(t, active, transport_);
    if (!end_if_running_away(t)) return false;
  }
  // What is in the middle of a collective exchange cannot be saved; a synchronous method has its last image.
  transport_.set_grace(fed ? kInterruptionGrace : 0);
  MethodMaster::Outcome outcome = method_.collective(t, active, transport_);
  while (outcome.incident) {
    if (!drop(*outcome.incident, t)) return false;
    remaining_.assign(active.begin(), active.end());
    std::erase(remaining_, outcome.incident->worker);
    active = remaining_;
    outcome = method_.collective(t, active, transport_);
  }
  if (outcome.interrupted) return end_interrupted();
  if (outcome.answer_all || !fed) active_.mark_all(t);
  if (!fed && !end_if_running_away(t)) return false;
  summary_->iterations = t_ = t + 1;

  // The snapshot is published even when nobody is answered any more: it is the state that a measurement
  // reads.
  broadcast(method_, transport_, t_, {});
  if (!measure_if_due(t_)) return false;
  transport_.set_grace(0);
  if (fed) {
    const std::span<const std::size_t> idle = outcome.answer_all ? everyone_ : active;
    waiting_.assign(idle.begin(), idle.end());
    std::erase_if(waiting_, [this](std::size_t worker) { return transport_.is_dropped(worker); });
  }
  phase_ = Phase::kBetween;
  if (observer_ != nullptr) unobserved_ = record_of(t_, active.size(), active_.longest_silence(t));
  ending_ = std::move(outcome.ending);
  if (!ending_ && summary_->stationarity_iteration >= 0) ending_ = Ending{Termination::kConverged, {}};
  return conclude_iteration();
}

bool MasterLoop::conclude_iteration() {
  if (unobserved_ && observer_ != nullptr && !observe(*unobserved_)) return false;
  unobserved_.reset();
  return !ending_ || end(ending_->termination, ending_->message);
}

bool MasterLoop::collect(std::int64_t t) {
  if (phase_ != Phase::kCollecting) active_.begin(t);
  phase_ = Phase::kCollecting;
  while (!active_.complete()) {
    const std::optional<std::size_t> worker = transport_.next_update();
    if (!worker) return end_interrupted();
    if (const std::optional<WorkerIncident> incident = transport_.update_incident(*worker)) {
      if (!drop(*incident, t)) return false;
      continue;
    }
    transport_.accept(*worker);
    const UpdateMessage& update = transport_.state(*worker);
    active_.add(*worker);
    const std::size_t age = static_cast<std::size_t>(std::max<std::int64_t>(0, t - update.iteration));
    ++summary_->staleness_histogram[std::min(age, summary_->staleness_histogram.size() - 1)];
  }
  phase_ = Phase::kStepping;
  return true;
}

bool MasterLoop::measure_if_due(std::int64_t completed) {
  last_gap_ = kNotMeasured;
  if (options_.stationarity_interval == 0 || completed % options_.stationarity_interval != 0) return true;
  MethodMaster::Measurement measurement = method_.stationarity_gap(transport_);
  while (measurement.outcome.incident) {
    if (!drop(*measurement.outcome.incident, completed)) return false;
    measurement = method_.stationarity_gap(transport_);
  }
  if (measurement.outcome.interrupted) return end_interrupted();
  last_gap_ = measurement.gap;
  summary_->stationarity_gap = measurement.gap;
  if (options_.stationarity_target > 0 && measurement.gap <= options_.stationarity_target) {
    summary_->stationarity_iteration = completed;
  }
  return true;
}

TraceRecord MasterLoop::record_of(std::int64_t completed, std::size_t active, std::int64_t silence) const {
  TraceRecord record;
  record.iteration = completed;
  record.wall_seconds = wall_seconds();
  record.cpu_seconds = run_cpu_seconds();
  record.virtual_seconds = run_seconds(record.wall_seconds);
  record.stationarity_gap = last_gap_;
  record.active = static_cast<std::int64_t>(active);
  record.max_staleness = silence;
  method_.describe(record);
  return record;
}

bool MasterLoop::observe(const TraceRecord& record) {
  const auto start = std::chrono::steady_clock::now();
  const double cpu_before = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
  const ObserverAction action =
      observer_->on_iteration({.record = record,
                               .upper = method_.upper_consensus(),
                               .lower = method_.lower_consensus(),
                               .is_interrupted = [this] { return limits_.interrupted(); }});
  observer_wall_ += seconds_since(start);
  observer_cpu_ += cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - cpu_before;
  if (action == ObserverAction::kContinue) return true;
  if (action == ObserverAction::kInterrupted && limits_.interrupted()) return end_interrupted();
  if (action != ObserverAction::kInterrupted) unobserved_.reset();
  return end(Termination::kStopped, action == ObserverAction::kAbort ? "aborted by the observer" : "");
}

bool MasterLoop::end_if_running_away(std::int64_t t) {
  for (const auto& [name, values] : {std::pair{"the upper variable v", method_.upper_consensus()},
                                     std::pair{"the lower variable z", method_.lower_consensus()}}) {
    if (!all_bounded(values)) {
      return end(Termination::kDiverged,
                 std::string(name) +
                     (all_finite(values) ? " is running away (beyond 1e12)" : " is not finite") +
                     " in iteration " + std::to_string(t + 1));
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
  if (const std::string fault = transport_.recording_fault(); !fault.empty()) {
    return end(Termination::kFailed, "the recording is not this run's: " + fault);
  }
  if (transport_.is_recording_over()) return end(Termination::kStopped, "the recording ends here");
  return end(limits_.stop_requested() ? Termination::kStopped : Termination::kTimeLimit);
}

bool MasterLoop::end_with(const WorkerIncident& incident, std::int64_t completed) {
  return end(incident.non_finite ? Termination::kDiverged : Termination::kFailed,
             "worker " + std::to_string(incident.worker) + ", iteration " + std::to_string(completed + 1) +
                 ": " + incident.what);
}

bool MasterLoop::drop(const WorkerIncident& incident, std::int64_t completed) {
  if (options_.worker_failure != WorkerFailurePolicy::kDrop || !method_.can_drop()) {
    return end_with(incident, completed);
  }
  transport_.drop(incident.worker);
  active_.drop(incident.worker);
  method_.drop(incident.worker);
  std::erase(everyone_, incident.worker);
  summary_->dropped_workers.push_back({.worker = static_cast<std::int64_t>(incident.worker),
                                       .iteration = completed + 1,
                                       .why = incident.what});
  if (observer_ != nullptr) observer_->on_dropped(summary_->dropped_workers.back());
  if (everyone_.empty())
    return end(Termination::kFailed, "no worker is left; the last one: " + incident.what);
  return true;
}

/// The delay model's time; under the real clock, whose time goes on while an observer works, the wall time
/// without that.
double MasterLoop::run_seconds(double wall) const {
  return transport_.has_own_time() ? transport_.now_seconds() : wall;
}

double MasterLoop::run_cpu_seconds() const {
  return cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_start_ - observer_cpu_;
}

double MasterLoop::wall_seconds() const { return seconds_since(wall_start_) - observer_wall_; }

}  // namespace adbo::detail
