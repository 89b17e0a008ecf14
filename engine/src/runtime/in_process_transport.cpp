#include "runtime/in_process_transport.h"

#include <algorithm>
#include <cassert>
#include <exception>
#include <string>
#include <utility>

#include "runtime/ring_slot.h"
#include "runtime/steady_nanoseconds.h"

namespace adbo::detail {
namespace {

/// The longest the master sleeps without looking at its limits: a signal handler may set the stop flag but
/// must not ring the bell, which can take a lock.
constexpr std::chrono::milliseconds kPatience{100};

/// From one report of waiting to the next.
constexpr double kReportInterval = 5;

/// Runs one computation of a worker; what it throws becomes the message's failure. False where it was given
/// up and there is no answer.
template <class Message, class Compute>
bool compute_into(Message& message, const Compute& compute) {
  message.failure.failed = false;
  try {
    compute();
    return true;
  } catch (const Abandoned&) {
    return false;
  } catch (const NonFinite& error) {
    message.failure.non_finite = true;
    message.failure.what = error.what();
  } catch (const std::exception& error) {
    message.failure.non_finite = false;
    message.failure.what = error.what();
  } catch (...) {
    message.failure.non_finite = false;
    message.failure.what = "an exception that is no std::exception";
  }
  message.failure.failed = true;
  return true;
}

}  // namespace

InProcessTransport::InProcessTransport(Parts parts, const RunLimits& limits)
    : limits_(limits),
      retries_(parts.retries),
      deadline_seconds_(parts.deadline_seconds),
      report_waiting_(std::move(parts.report_waiting)),
      recorder_(parts.recorder),
      domain_(parts.programs.size(), std::move(parts.make_snapshot), std::move(parts.on_reclaim)),
      channels_(parts.programs.size()),
      clock_(std::move(parts.clock)),
      executor_(std::move(parts.executor)) {
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    Channel& channel = channels_[i];
    channel.program = std::move(parts.programs[i]);
    channel.program->watch(limits);
    for (std::size_t k = 0; k < kUpdateDepth; ++k) channel.program->size(channel.updates.slot_for_setup(k));
    for (std::size_t k = 0; k < kRoundDepth; ++k) channel.program->size(channel.rounds.slot_for_setup(k));
    channel.program->fill_start(claim_slot(channel.updates));
    channel.updates.publish();
    channel.updates_seen = channel.updates.available();
  }
}

InProcessTransport::~InProcessTransport() = default;

// ---- the workers' side: executor threads ----

void InProcessTransport::run_worker(std::size_t worker) noexcept {
  const Snapshot& snapshot = domain_.read(worker);  // (E3): also makes the request visible
  Channel& channel = channels_[worker];
  if (deadline_seconds_ > 0) {
    channel.started_at.store(nanoseconds(std::chrono::steady_clock::now()), std::memory_order_relaxed);
  }
  if (channel.request.ask == Ask::kStep) {
    answer_step(channel, snapshot);
  } else {
    answer_round(channel, snapshot);
  }
  bell_.ring();  // (E4)
}

void InProcessTransport::answer_step(Channel& channel, const Snapshot& snapshot) {
  UpdateMessage& out = claim_slot(channel.updates);
  const UpdateMessage& previous = *channel.updates.last_published();
  if (!compute_into(out, [&] { channel.program->step(channel.request, snapshot, previous, out); })) return;
  // A failed answer carries the state from before: another step may follow it.
  if (out.failure.failed) {
    WorkerFailure failure = std::move(out.failure);
    out = previous;
    out.failure = std::move(failure);
  }
  channel.updates.publish();  // (E1)
}

void InProcessTransport::answer_round(Channel& channel, const Snapshot& snapshot) {
  RoundMessage& out = claim_slot(channel.rounds);
  const bool is_answer = compute_into(out, [&] {
    channel.program->round(channel.request, snapshot, *channel.updates.last_published(), out);
  });
  if (!is_answer) return;
  channel.rounds.publish();  // (E1)
}

// ---- the master's side ----

const UpdateMessage& InProcessTransport::state(std::size_t worker) const {
  const Channel& channel = channels_[worker];
  return channel.uses_kept ? channel.kept : channel.updates.peek(0);
}

Request& InProcessTransport::request(std::size_t worker) {
  assert(channels_[worker].step != Pending::kComputing && channels_[worker].round == Pending::kNothing);
  return channels_[worker].request;
}

void InProcessTransport::dispatch(std::size_t worker) {
  Channel& channel = channels_[worker];
  channel.started_at.store(0, std::memory_order_relaxed);
  if (report_waiting_) channel.asked_at = std::chrono::steady_clock::now();
  if (deadline_seconds_ > 0) channel.request_copy.take(channel.request);
  domain_.hand_to(worker);  // (E3)
  executor_->submit(
      {.run = [](void* self,
                 std::size_t index) noexcept { static_cast<InProcessTransport*>(self)->run_worker(index); },
       .context = this,
       .index = worker});
}

void InProcessTransport::send_step(std::size_t worker) {
  Channel& channel = channels_[worker];
  assert(channel.step == Pending::kNothing && channel.request.ask == Ask::kStep);
  channel.step = Pending::kComputing;
  ++steps_in_flight_;
  channel.retries = 0;
  clock_->sent(worker);
  dispatch(worker);
}

/// Whether the worker's answer to its open request has come; if so, the worker has left its snapshot.
bool InProcessTransport::notice(std::size_t worker) {
  Channel& channel = channels_[worker];
  if (channel.round == Pending::kComputing) {
    if (channel.rounds.available() == 0) return false;  // (E1)
    channel.round = Pending::kAnswered;
    if (exchange_is_timed_) clock_->seen(worker);
  } else if (channel.step == Pending::kComputing) {
    if (channel.updates.available() == channel.updates_seen) return false;  // (E1)
    ++channel.updates_seen;
    channel.step = Pending::kAnswered;
    clock_->seen(worker);
  } else {
    return channel.round == Pending::kAnswered || channel.step == Pending::kAnswered;
  }
  domain_.arrived(worker);
  return true;
}

/// Looks at every worker once, beginning after the one seen last: of answers that are found together, no
/// worker's index is favoured for long.
void InProcessTransport::notice_any() {
  const std::size_t n = channels_.size();
  const std::size_t start = scan_start_;
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t worker = (start + k) % n;
    const Channel& channel = channels_[worker];
    if (computes(channel) && notice(worker)) scan_start_ = (worker + 1) % n;
  }
}

/// The next answer in the clock's order if it is there and due; else nothing, and wake_at_ says until when to
/// sleep.
std::optional<std::size_t> InProcessTransport::take_due() {
  wake_at_ = std::chrono::steady_clock::now() + kPatience;
  Clock::Next next = clock_->next();
  if (next.kind == Clock::Next::Kind::kAwaitAny || next.kind == Clock::Next::Kind::kAwaitTime) {
    notice_any();
    next = clock_->next();
  }
  switch (next.kind) {
    case Clock::Next::Kind::kReady:
      break;
    case Clock::Next::Kind::kNever:
      is_recording_over_ = true;
      return std::nullopt;
    case Clock::Next::Kind::kAwaitWorker:
      if (!has_request(channels_[next.worker])) {
        recording_fault_ =
            "it names worker " + std::to_string(next.worker) + ", which has no answer under way";
        is_recording_over_ = true;
        return std::nullopt;
      }
      if (next.is_lost) channels_[next.worker].is_lost = true;
      if (!channels_[next.worker].is_lost && !notice(next.worker)) return std::nullopt;
      break;
    case Clock::Next::Kind::kAwaitTime:
      wake_at_ = std::min(wake_at_, next.time);
      return std::nullopt;
    case Clock::Next::Kind::kAwaitAny:
      return std::nullopt;
  }
  clock_->take(next.worker);
  record(next.worker);
  if (ask_again(next.worker)) return std::nullopt;
  end_request(next.worker);
  // Nobody waits any more for one that is gone.
  return channels_[next.worker].is_dropped ? std::nullopt : std::optional(next.worker);
}

/// An exchange's, or else a step's: a worker has one at a time.
void InProcessTransport::end_request(std::size_t worker) {
  Channel& channel = channels_[worker];
  if (channel.round != Pending::kNothing) {
    channel.round = Pending::kNothing;
  } else {
    channel.step = Pending::kNothing;
    --steps_in_flight_;
  }
}

void InProcessTransport::record(std::size_t worker) {
  if (recorder_ == nullptr) return;
  recorder_->arrived({.worker = static_cast<std::uint32_t>(worker),
                      .seconds = clock_->now_seconds(),
                      .is_lost = channels_[worker].is_lost});
}

/// True as soon as `condition` holds; false when the run is interrupted. The condition sets wake_at_.
template <class Condition>
bool InProcessTransport::wait_until(const Condition& condition) {
  const Clock::Instant since = std::chrono::steady_clock::now();
  double reported = 0;
  for (;;) {
    const std::uint32_t ticket = bell_.ticket();  // (E4): before looking
    if (deadline_seconds_ > 0) note_lost();
    if (condition()) return true;
    const Clock::Instant now = std::chrono::steady_clock::now();
    if (is_interrupted_for_good(now) || is_recording_over_) return false;
    if (report_waiting_ && std::chrono::duration<double>(now - since).count() >= reported + kReportInterval) {
      reported += kReportInterval;
      report_waiting(since, now);
    }
    if (executor_->run_one()) continue;
    // A limit that has passed would be no time to sleep until.
    (void)bell_.wait_until(ticket, interrupted_since_ ? wake_at_ : limits_.earliest(wake_at_));
  }
}

bool InProcessTransport::is_interrupted_for_good(Clock::Instant now) {
  if (!limits_.interrupted()) return false;
  if (!interrupted_since_) interrupted_since_ = now;
  return now - *interrupted_since_ >= grace_;
}

std::optional<std::size_t> InProcessTransport::wait_due() {
  std::optional<std::size_t> taken;
  (void)wait_until([&] {
    taken = take_due();
    if (!taken && deadline_seconds_ > 0 && !clock_->is_deterministic()) taken = take_lost();
    return taken.has_value();
  });
  return taken;
}

std::optional<std::size_t> InProcessTransport::next_update() {
  while (!held_.empty()) {
    const std::size_t worker = held_.pop();
    channels_[worker].is_held = false;
    if (!channels_[worker].is_dropped) return worker;
  }
  return wait_due();
}

/// Everything but the newest update goes back to the worker.
void InProcessTransport::release_older(Channel& channel) {
  channel.updates.release(channel.updates_seen - 1);  // (E2)
  channel.updates_seen = 1;
}

void InProcessTransport::accept(std::size_t worker) {
  Channel& channel = channels_[worker];
  channel.uses_kept = false;
  release_older(channel);
}

bool InProcessTransport::hold_all() {
  while (steps_in_flight_ > 0) {
    const std::optional<std::size_t> worker = wait_due();
    if (!worker) return false;
    held_.push(*worker);
    channels_[*worker].is_held = true;
  }
  return true;
}

bool InProcessTransport::discard_all() {
  if (!hold_all()) return false;
  while (!held_.empty()) {
    Channel& channel = channels_[held_.pop()];
    channel.is_held = false;
    if (channel.is_lost) continue;  // it has given no update
    if (!channel.uses_kept) channel.kept = channel.updates.peek(0);
    channel.uses_kept = true;
    release_older(channel);
  }
  return true;
}

bool InProcessTransport::settle() {
  return wait_until([this] {
    wake_at_ = std::chrono::steady_clock::now() + kPatience;
    notice_any();
    return nobody_computes();
  });
}

bool InProcessTransport::nobody_computes() const {
  return std::none_of(channels_.begin(), channels_.end(), computes);
}

bool InProcessTransport::exchange(std::span<const std::size_t> workers, Timing timing) {
  exchange_is_timed_ = timing == Timing::kTimed;
  std::size_t asked = 0;
  for (const std::size_t i : workers) {
    Channel& channel = channels_[i];
    if (channel.is_lost || channel.is_dropped) continue;
    assert(channel.request.ask != Ask::kStep && channel.step != Pending::kComputing);
    channel.rounds.release(channel.rounds.available());  // (E2): the reply before
    channel.round = Pending::kComputing;
    channel.retries = 0;
    ++asked;
    if (timing == Timing::kTimed) clock_->sent(i);
    dispatch(i);
  }
  if (timing == Timing::kTimed) {
    assert(steps_in_flight_ == 0);
    for (std::size_t k = 0; k < asked; ++k) {
      if (!wait_due()) return false;
    }
    return true;
  }
  const bool complete = wait_until([this] {
    wake_at_ = std::chrono::steady_clock::now() + kPatience;
    notice_any();
    return std::none_of(channels_.begin(), channels_.end(), [](const Channel& channel) {
      return channel.round == Pending::kComputing && !channel.is_lost;
    });
  });
  for (const std::size_t i : workers) channels_[i].round = Pending::kNothing;
  return complete;
}

const RoundMessage& InProcessTransport::reply(std::size_t worker) const {
  return channels_[worker].rounds.peek(0);
}

}  // namespace adbo::detail
