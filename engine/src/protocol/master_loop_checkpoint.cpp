// What a master loop leaves in checkpoints, when it makes them, and how it goes on from one.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <span>

#include "protocol/master_loop.h"

namespace adbo::detail {

/// Variables of the loop itself, the method's, the transport's, the observer's. Times go on from where they
/// were.
void MasterLoop::persist(StateArchive& archive) {
  double wall = wall_seconds(), cpu = run_cpu_seconds();
  archive(t_, phase_, active_, upper_start_, wall, cpu);
  archive.sized(summary_->dropped_workers);
  archive(summary_->iterations, summary_->staleness_histogram, summary_->stationarity_gap,
          summary_->stationarity_iteration);
  constexpr double kLongest = 1e9;  // seconds: thirty years
  archive.require(wall >= 0 && wall <= kLongest && std::abs(cpu) <= kLongest, "times that cannot be");
  archive.require(t_ >= 0 && summary_->iterations == t_, "iterations that contradict each other");
  archive.require(phase_ == Phase::kBetween || phase_ == Phase::kCollecting,
                  "neither within an iteration nor between two");
  method_.persist(archive);
  transport_.persist(archive);
  archive(unobserved_, ending_);
  archive.require(phase_ == Phase::kBetween || (!unobserved_ && !ending_),
                  "an iteration that is over and not");
  archive.require(!unobserved_ || unobserved_->iteration == t_, "a record of another iteration");
  if (archive.is_loading()) take_up(archive, wall, cpu);
  // Last: what an observer has outside of the run is touched only for a state that is sound.
  if (observer_ != nullptr) observer_->persist(archive);
}

void MasterLoop::take_up(const StateArchive& archive, double wall, double cpu) {
  wall_start_ -=
      std::chrono::duration_cast<RunLimits::Instant::duration>(std::chrono::duration<double>(wall));
  cpu_start_ -= cpu;
  check_workers(archive);
  std::erase_if(everyone_, [this](std::size_t worker) { return transport_.is_dropped(worker); });
  archive.require(!everyone_.empty(), "no worker is left");
  method_.set_workers(everyone_);
  find_waiting();
}

/// Every worker is either dropped for all or for none, and heard once or still awaited.
void MasterLoop::check_workers(const StateArchive& archive) const {
  const auto members = active_.members();
  for (const std::size_t worker : everyone_) {
    archive.require(active_.is_dropped(worker) == transport_.is_dropped(worker),
                    "a worker that is dropped and not dropped");
    const auto heard = std::count(members.begin(), members.end(), worker);
    const bool is_awaited = transport_.is_awaited(worker) || transport_.is_dropped(worker);
    if (phase_ == Phase::kCollecting)
      archive.require(heard + (is_awaited ? 1 : 0) <= 1, "a worker heard more than once");
  }
}

/// Who has neither been asked nor answered within this iteration.
void MasterLoop::find_waiting() {
  waiting_.clear();
  if (!method_.is_fed_by_arrivals()) return;
  const auto heard = phase_ == Phase::kCollecting ? active_.members() : std::span<const std::size_t>();
  for (const std::size_t worker : everyone_) {
    const bool is_heard = std::find(heard.begin(), heard.end(), worker) != heard.end();
    if (!is_heard && !transport_.is_awaited(worker)) waiting_.push_back(worker);
  }
}

/// A synchronous method cannot be saved in the middle of an iteration, so that iterations of it leave an
/// image, which is stored if it is due, or if the run is interrupted before the next one.
void MasterLoop::note_checkpoint_if_due() {
  if (checkpoints_.sink == nullptr) return;
  const bool due = t_ != stored_iteration_ && checkpoints_.sink->is_due(t_);
  if (!due && (method_.is_fed_by_arrivals() || !is_image_worth_its_time())) return;
  if (!transport_.prepare_to_persist(kInterruptionGrace)) return;
  encode_checkpoint();
  if (due) store_checkpoint();
}

/// A state may be large (saba remembers an estimate per batch) and an iteration short: images take a small
/// share of the time at most.
bool MasterLoop::is_image_worth_its_time() const {
  constexpr int kShare = 20;
  return std::chrono::steady_clock::now() - image_end_ >= kShare * image_cost_;
}

void MasterLoop::encode_checkpoint() {
  const auto begin = std::chrono::steady_clock::now();
  checkpoints_.facts.iteration = t_;
  begin_checkpoint(image_, checkpoints_.facts);
  StateArchive archive = StateArchive::saving_to(image_);
  persist(archive);
  image_iteration_ = t_;
  image_end_ = std::chrono::steady_clock::now();
  image_cost_ = image_end_ - begin;
}

void MasterLoop::store_checkpoint() {
  seal_checkpoint(image_);
  checkpoints_.sink->store(image_iteration_, image_);
  stored_iteration_ = image_iteration_;
}

/// Of the state as it is, where it can be saved; or else the last image, if that is newer than what is
/// stored.
void MasterLoop::store_last_checkpoint() {
  const bool is_new = phase_ == Phase::kCollecting || (phase_ == Phase::kBetween && t_ != stored_iteration_);
  if (is_new && transport_.prepare_to_persist(kInterruptionGrace)) {
    encode_checkpoint();
    store_checkpoint();
  } else if (image_iteration_ > stored_iteration_) {
    store_checkpoint();
  }
}

}  // namespace adbo::detail
