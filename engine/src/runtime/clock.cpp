#include "runtime/clock.h"

#include <algorithm>
#include <cassert>

namespace adbo::detail {

void VirtualClock::sent(std::size_t worker) {
  queue_.push({now_ + delays_.draw_seconds(worker), sent_count_++, worker});
}

Clock::Next VirtualClock::next() {
  if (queue_.empty()) return {};
  return {.kind = Next::Kind::kAwaitWorker, .worker = queue_.top().worker};
}

void VirtualClock::take(std::size_t worker) {
  assert(!queue_.empty() && queue_.top().worker == worker);
  (void)worker;
  now_ = std::max(now_, queue_.top().time);
  queue_.pop();
}

void VirtualClock::persist(StateArchive& archive) {
  archive(delays_, sent_count_, now_);
  const auto same = [](double seconds) { return seconds; };
  queue_.persist(archive, same, same);
}

void RealClock::seen(std::size_t worker) {
  const auto delay = std::chrono::duration<double>(delays_.draw_seconds(worker));
  const Instant due = std::chrono::steady_clock::now() + std::chrono::duration_cast<Instant::duration>(delay);
  queue_.push({due, seen_count_++, worker});
}

Clock::Next RealClock::next() {
  if (queue_.empty()) return {};
  const Due<Instant>& first = queue_.top();
  const bool due = delays_.none() || first.time <= std::chrono::steady_clock::now();
  return {
      .kind = due ? Next::Kind::kReady : Next::Kind::kAwaitTime, .worker = first.worker, .time = first.time};
}

void RealClock::take(std::size_t worker) {
  assert(!queue_.empty() && queue_.top().worker == worker);
  (void)worker;
  queue_.pop();
}

double RealClock::now_seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

/// Due times as seconds from now, and the time of the run so far.
void RealClock::persist(StateArchive& archive) {
  const Instant now = std::chrono::steady_clock::now();
  const auto after = [now](double seconds) {
    return now + std::chrono::duration_cast<Instant::duration>(std::chrono::duration<double>(seconds));
  };
  double elapsed = now_seconds();
  archive(delays_, seen_count_, elapsed);
  archive.require(elapsed >= 0 && elapsed <= 10 * kLongestDelaySeconds, "a time that cannot be");
  start_ = after(-elapsed);
  queue_.persist(
      archive, [now](Instant due) { return std::chrono::duration<double>(due - now).count(); }, after);
}

Clock::Next ReplayClock::next() {
  if (taken_ >= arrivals_.size()) return {.kind = Next::Kind::kNever};
  const Arrival& arrival = arrivals_[taken_];
  return {.kind = Next::Kind::kAwaitWorker, .is_lost = arrival.is_lost, .worker = arrival.worker};
}

void ReplayClock::take(std::size_t worker) {
  assert(taken_ < arrivals_.size() && arrivals_[taken_].worker == worker);
  (void)worker;
  now_ = arrivals_[taken_].seconds;
  ++taken_;
}

std::unique_ptr<Clock> make_clock(const Options& options, std::size_t num_workers) {
  DelayModel delays(parse_delay(options.delay).value_or(DelayDistribution{}),
                    parse_stragglers(options.stragglers).value_or(Stragglers{}), options.seed, num_workers);
  if (options.clock == ClockKind::kVirtual) return std::make_unique<VirtualClock>(std::move(delays));
  return std::make_unique<RealClock>(std::move(delays));
}

}  // namespace adbo::detail
