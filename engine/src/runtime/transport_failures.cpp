// InProcessTransport: answers that failed, and workers that do not answer.
#include <algorithm>
#include <sstream>

#include "runtime/in_process_transport.h"
#include "runtime/steady_nanoseconds.h"

namespace adbo::detail {

/// The clock of arrivals knows nothing of a worker that never arrives.
std::optional<std::size_t> InProcessTransport::take_lost() {
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    const Channel& channel = channels_[i];
    if (!channel.is_lost || channel.is_dropped || !has_request(channel)) continue;
    end_request(i);
    record(i);
    return i;
  }
  return std::nullopt;
}

/// Asks for a failed answer once more, if that is allowed. The step is then one of the snapshot published
/// last.
bool InProcessTransport::ask_again(std::size_t worker) {
  Channel& channel = channels_[worker];
  if (channel.is_lost || channel.is_dropped || channel.retries >= retries_) return false;
  if (channel.round == Pending::kAnswered) {
    if (!channel.rounds.peek(0).failure.failed) return false;
    channel.rounds.release(channel.rounds.available());  // (E2)
    channel.round = Pending::kComputing;
  } else {
    if (!channel.updates.peek(channel.updates_seen - 1).failure.failed) return false;
    release_older(channel);
    channel.step = Pending::kComputing;
    channel.request.iteration = domain_.current().iteration;
  }
  ++channel.retries;
  clock_->sent(worker);
  dispatch(worker);
  return true;
}

/// Gives up the workers that compute for longer than the deadline. An answer that is there counts, however
/// late the master looks; so does one that has not been begun, unless all threads are held by workers given
/// up.
void InProcessTransport::note_lost() {
  const Clock::Instant now = std::chrono::steady_clock::now();
  constexpr double kLongest =
      1e9;  // seconds: whatever is longer is no deadline, and nanoseconds have to hold it
  const auto allowed = static_cast<std::int64_t>(std::min(deadline_seconds_, kLongest) * 1e9);
  int held_threads = 0;
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    Channel& channel = channels_[i];
    const std::int64_t started = channel.started_at.load(std::memory_order_relaxed);
    const bool is_late = started != 0 && nanoseconds(now) - started > allowed;
    if (computes(channel) && is_late && !notice(i)) channel.is_lost = true;
    held_threads += channel.is_lost && started != 0 ? 1 : 0;
  }
  if (held_threads < executor_->threads()) return;
  for (Channel& channel : channels_) {
    if (computes(channel) && channel.started_at.load(std::memory_order_relaxed) == 0) channel.is_lost = true;
  }
}

bool InProcessTransport::has_runaways(double seconds) {
  const auto runs = [](const Channel& channel) {
    return channel.is_lost && channel.started_at.load(std::memory_order_relaxed) != 0 &&
           channel.updates.available() == channel.updates_seen && channel.rounds.available() == 0;
  };
  const Clock::Instant deadline =
      std::chrono::steady_clock::now() +
      std::chrono::duration_cast<Clock::Instant::duration>(std::chrono::duration<double>(seconds));
  for (;;) {
    const std::uint32_t ticket = bell_.ticket();
    if (std::none_of(channels_.begin(), channels_.end(), runs)) return false;
    if (std::chrono::steady_clock::now() >= deadline) return true;
    (void)bell_.wait_until(ticket, deadline);
  }
}

/// Of the workers that compute, the one asked first.
void InProcessTransport::report_waiting(Clock::Instant since, Clock::Instant now) {
  const Channel* earliest = nullptr;
  for (const Channel& channel : channels_) {
    if (computes(channel) && (earliest == nullptr || channel.asked_at < earliest->asked_at))
      earliest = &channel;
  }
  if (earliest == nullptr) return;  // a delay that is injected
  report_waiting_(static_cast<std::size_t>(earliest - channels_.data()),
                  std::chrono::duration<double>(now - since).count());
}

std::optional<WorkerIncident> InProcessTransport::incident(std::size_t worker,
                                                           const WorkerFailure* failure) const {
  if (channels_[worker].is_lost) {
    std::ostringstream what;
    if (deadline_seconds_ > 0) {
      what << "no answer within " << deadline_seconds_ << " s (worker_deadline)";
    } else {
      what << "no answer in time when the run was recorded";
    }
    return WorkerIncident{.worker = worker, .non_finite = false, .what = what.str()};
  }
  if (failure == nullptr || !failure->failed) return std::nullopt;
  return WorkerIncident{.worker = worker, .non_finite = failure->non_finite, .what = failure->what};
}

std::optional<WorkerIncident> InProcessTransport::update_incident(std::size_t worker) const {
  const Channel& channel = channels_[worker];
  return incident(worker, &channel.updates.peek(channel.updates_seen - 1).failure);
}

std::optional<WorkerIncident> InProcessTransport::reply_incident(std::size_t worker) const {
  const Channel& channel = channels_[worker];
  return incident(worker, channel.is_lost ? nullptr : &channel.rounds.peek(0).failure);
}

void InProcessTransport::drop(std::size_t worker) { channels_[worker].is_dropped = true; }

}  // namespace adbo::detail
