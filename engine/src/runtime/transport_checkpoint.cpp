// InProcessTransport: its part of a checkpoint.
#include <algorithm>
#include <string>

#include "runtime/in_process_transport.h"
#include "runtime/ring_slot.h"

namespace adbo::detail {

bool InProcessTransport::is_awaited(std::size_t worker) const {
  const Channel& channel = channels_[worker];
  return channel.step != Pending::kNothing || channel.is_held;
}

/// One that has been given up and not yet been dropped is about to end the run, or to be dropped.
bool InProcessTransport::is_any_about_to_go() const {
  return std::any_of(channels_.begin(), channels_.end(),
                     [](const Channel& channel) { return channel.is_lost && !channel.is_dropped; });
}

bool InProcessTransport::prepare_to_persist(double grace_seconds) {
  if (is_any_about_to_go()) return false;
  if (!clock_->is_deterministic()) {
    notice_any();
    return true;
  }
  if (settle()) return !is_any_about_to_go();  // a deadline may have passed meanwhile
  const auto grace =
      std::chrono::duration_cast<Clock::Instant::duration>(std::chrono::duration<double>(grace_seconds));
  const Clock::Instant deadline = std::chrono::steady_clock::now() + grace;
  for (;;) {
    const std::uint32_t ticket = bell_.ticket();  // (E4): before looking
    notice_any();
    if (nobody_computes()) return true;
    if (std::chrono::steady_clock::now() >= deadline) return false;
    if (!executor_->run_one()) (void)bell_.wait_until(ticket, deadline);
  }
}

void InProcessTransport::persist(StateArchive& archive) {
  clock_->persist(archive);
  archive(held_, scan_start_);
  archive.require(scan_start_ < channels_.size(), "a worker that is not there");
  for (Channel& channel : channels_) persist_channel(archive, channel);
  if (archive.is_loading()) require_consistent();
  steps_in_flight_ =
      static_cast<std::size_t>(std::count_if(channels_.begin(), channels_.end(), [](const Channel& channel) {
        return channel.step != Pending::kNothing;
      }));
}

/// An answer that is awaited is in the clock's order or held, once, and nothing else is.
void InProcessTransport::require_consistent() const {
  std::vector<std::size_t> awaited = clock_->pending();
  for (const std::size_t worker : held_.items()) awaited.push_back(worker);
  std::vector<std::size_t> expected;
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    const Channel& channel = channels_[i];
    if (channel.step != Pending::kNothing && channel.step != Pending::kAnswered)
      throw BadState("a step in no state");
    if (channel.is_held) expected.push_back(i);
    if (channel.step == Pending::kAnswered && clock_->knows_pending()) expected.push_back(i);
    const bool has_answer = channel.is_held || channel.step == Pending::kAnswered;
    if (has_answer && channel.updates_seen < 2 && !channel.uses_kept)
      throw BadState("an answer that is not there");
  }
  std::sort(awaited.begin(), awaited.end());
  if (awaited != expected) throw BadState("answers that are awaited and not there, or the other way round");
}

void InProcessTransport::persist_channel(StateArchive& archive, Channel& channel) {
  // The program of a step that is being computed is not the master's to look at: a resumed run begins with a
  // fresh one. The step itself is asked for again.
  bool has_program = channel.step != Pending::kComputing && !channel.is_lost;
  Pending step = has_program ? channel.step : Pending::kNothing;
  archive(has_program, step, channel.is_held, channel.uses_kept, channel.is_dropped);
  if (archive.is_loading()) channel.step = step;
  if (has_program) channel.program->persist(archive);
  if (channel.uses_kept) {
    if (archive.is_loading()) channel.kept = channel.updates.peek(0);  // its sizes
    archive(channel.kept);
  }
  std::size_t count = channel.updates_seen;
  archive(count);
  persist_messages(archive, channel, count);
}

/// The ring's messages, oldest first. On loading the ring holds the start alone, which the oldest replaces.
void InProcessTransport::persist_messages(StateArchive& archive, Channel& channel, std::size_t count) {
  if (!archive.is_loading()) {
    for (std::size_t k = 0; k < count; ++k) {
      UpdateMessage message = channel.updates.peek(k);
      archive(message);
    }
    return;
  }
  if (count < 1 || count >= kUpdateDepth)
    throw BadState("a worker with " + std::to_string(count) + " answers");
  archive(channel.updates.slot_for_setup(0));
  for (std::size_t k = 1; k < count; ++k) {
    archive(claim_slot(channel.updates));
    channel.updates.publish();
  }
  channel.updates_seen = channel.updates.available();
}

}  // namespace adbo::detail
