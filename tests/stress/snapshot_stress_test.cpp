// Master and workers move through rings, doorbell and snapshots as the engine does:
//   master  hand_to(i), dispatch ──► a thread runs worker i's step: read(i), message, ring the bell
//   master  takes the message, arrived(i), publishes a new snapshot, hands it to those it answers
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <numeric>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "concurrency/doorbell.h"
#include "concurrency/snapshot_domain.h"
#include "concurrency/spsc_ring.h"
#include "stress/stress_support.h"

namespace {

using adbo::detail::Doorbell;
using adbo::detail::SnapshotDomain;
using adbo::detail::SpscRing;
using adbo::test::kSlowdown;
using adbo::test::TimeLimit;
using adbo::test::XorShift;

constexpr std::uint64_t kPoison = 0xDEADBEEFDEADBEEFu;
constexpr std::size_t kLength = 40;

std::atomic<std::int64_t> objects_in_memory{0};

struct Snapshot {
  Snapshot() { ++objects_in_memory; }
  ~Snapshot() { --objects_in_memory; }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  void write(std::uint64_t new_version) {
    version = new_version;
    for (std::size_t i = 0; i < kLength; ++i) values[i] = new_version * 1000 + i;
  }
  void poison() {
    version = kPoison;
    std::fill(values.begin(), values.end(), kPoison);
  }
  /// Whether this is version `expected` and nothing else, every value of it.
  [[nodiscard]] bool holds(std::uint64_t expected) const {
    if (version != expected) return false;
    for (std::size_t i = 0; i < kLength; ++i) {
      if (values[i] != expected * 1000 + i) return false;
    }
    return true;
  }

  std::uint64_t version = kPoison;
  std::vector<std::uint64_t> values = std::vector<std::uint64_t>(kLength, kPoison);
};

struct Message {
  std::uint64_t step = 0;
  std::uint64_t version = 0;
  bool is_sound = false;
};

/// Hands step numbers to threads. A mutex is what an executor may use; the workers and the master do not see
/// it.
class TaskQueue {
 public:
  void push(std::size_t worker) {
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(worker);
    }
    filled_.notify_one();
  }
  void close() {
    {
      const std::lock_guard lock(mutex_);
      is_closed_ = true;
    }
    filled_.notify_all();
  }
  /// False when the queue is closed and empty.
  bool pop(std::size_t& worker) {
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [this] { return is_closed_ || !tasks_.empty(); });
    if (tasks_.empty()) return false;
    worker = tasks_.front();
    tasks_.pop_front();
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable filled_;
  std::deque<std::size_t> tasks_;
  bool is_closed_ = false;
};

/// State that belongs to a worker and passes from thread to thread with its steps; nothing of it is atomic.
struct Worker {
  SpscRing<Message, 2> ring;
  std::uint64_t steps = 0;
  std::uint64_t expected_version = 0;  // the request: written by the master before hand_to()
};

class Torture {
 public:
  Torture(std::size_t workers, std::size_t threads, std::size_t arrivals_per_iteration)
      : workers_(workers),
        arrivals_per_iteration_(arrivals_per_iteration),
        steps_taken_(workers, 0),
        domain_(
            workers, [] { return std::make_unique<Snapshot>(); },
            [this](Snapshot& snapshot) {
              double_reclaims_ += snapshot.version == kPoison;
              snapshot.poison();
              ++reclaim_calls_;
            }) {
    for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this, i] { run_steps(i); });
  }
  ~Torture() {
    queue_.close();
    for (std::thread& thread : threads_) thread.join();
  }
  Torture(const Torture&) = delete;
  Torture& operator=(const Torture&) = delete;

  void run(std::uint64_t iterations) {
    publish_next();
    std::vector<std::size_t> answered(workers_.size());
    for (std::size_t i = 0; i < answered.size(); ++i) answered[i] = i;
    const TimeLimit limit;
    for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
      if (iteration % 256 == 255 && limit.is_over()) break;
      for (const std::size_t worker : answered) dispatch(worker);
      answered.clear();
      while (answered.size() < arrivals_per_iteration_) collect(answered);
      // Some iterations have no new snapshot, some more than one: a version may pass without any reader.
      for (std::uint64_t i = random_.below(3); i > 0; --i) publish_next();
    }
    std::size_t in_flight = workers_.size() - answered.size();
    while (in_flight > 0) {
      answered.clear();
      collect(answered);
      in_flight -= answered.size();
    }
  }

  void check() const {
    MESSAGE("age of the snapshot at arrival (versions: arrivals): " << histogram());
    MESSAGE("published: " << domain_.published() << ", objects: " << domain_.objects()
                          << ", most alive at once: " << domain_.max_alive());
    CHECK(unsound_ == 0);
    CHECK(double_reclaims_ == 0);
    CHECK(reclaim_calls_ == domain_.reclaimed());
    CHECK(domain_.published() == domain_.reclaimed() + domain_.alive());
    CHECK(domain_.alive() == 1);  // all have arrived: the current one is left
    CHECK(domain_.current().holds(version_));
    CHECK(domain_.max_alive() <= workers_.size() + 1);
    CHECK(domain_.objects() <= workers_.size() + 2);
    CHECK(objects_in_memory.load() == static_cast<std::int64_t>(domain_.objects()));
    // Steps overlap with publications, unless the master waits for all workers before each.
    const std::uint64_t arrivals = std::accumulate(ages_.begin(), ages_.end(), std::uint64_t{0});
    CHECK((ages_[0] == arrivals) == (arrivals_per_iteration_ == workers_.size()));
  }

 private:
  // ---- master ----

  void publish_next() {
    domain_.draft().write(++version_);
    domain_.publish();
  }

  void dispatch(std::size_t worker) {
    workers_[worker].expected_version = version_;
    domain_.hand_to(worker);
    queue_.push(worker);
  }

  /// Waits for the bell if need be; appends the workers that arrived.
  void collect(std::vector<std::size_t>& arrived) {
    const std::uint32_t ticket = bell_.ticket();
    const std::size_t before = arrived.size();
    for (std::size_t worker = 0; worker < workers_.size(); ++worker) {
      if (take_message(worker)) arrived.push_back(worker);
    }
    if (arrived.size() == before) bell_.wait(ticket);
  }

  bool take_message(std::size_t worker) {
    SpscRing<Message, 2>& ring = workers_[worker].ring;
    const std::size_t kept =
        steps_taken_[worker] == 0 ? 0 : 1;  // the newest stays until there is a newer one
    if (ring.available() == kept) return false;
    ring.release(kept);
    const Message& message = ring.peek(0);
    unsound_ += !message.is_sound || message.step != ++steps_taken_[worker];
    ++ages_[std::min<std::uint64_t>(version_ - message.version, ages_.size() - 1)];
    domain_.arrived(worker);
    return true;
  }

  [[nodiscard]] std::string histogram() const {
    std::ostringstream text;
    for (std::size_t age = 0; age < ages_.size(); ++age) {
      text << age << (age + 1 == ages_.size() ? "+: " : ": ") << ages_[age] << "  ";
    }
    return text.str();
  }

  // ---- threads ----

  void run_steps(std::size_t thread) {
    XorShift random(1000 + thread);
    std::size_t worker = 0;
    while (queue_.pop(worker)) step(worker, random);
  }

  void step(std::size_t index, XorShift& random) {
    Worker& worker = workers_[index];
    const Snapshot& snapshot = domain_.read(index);
    const std::uint64_t version = snapshot.version;
    bool is_sound = version == worker.expected_version && snapshot.holds(version);
    // Be slow at times, so that several versions pass, and look again.
    const std::uint64_t pauses = random.below(8) == 0 ? random.below(30) : random.below(3);
    for (std::uint64_t i = 0; i < pauses; ++i) {
      std::this_thread::yield();
      is_sound &= domain_.read(index).holds(version);
    }
    const Message* previous = worker.ring.last_published();
    is_sound &= previous == nullptr ? worker.steps == 0 : previous->step == worker.steps;
    Message* message = worker.ring.claim();
    if (message == nullptr) std::abort();  // a full ring breaks the protocol
    message->step = ++worker.steps;
    message->version = version;
    message->is_sound = is_sound;
    worker.ring.publish();
    bell_.ring();
  }

  std::vector<Worker> workers_;
  std::size_t arrivals_per_iteration_;
  std::vector<std::uint64_t> steps_taken_;
  SnapshotDomain<Snapshot> domain_;
  Doorbell bell_;
  TaskQueue queue_;
  std::uint64_t version_ = 0;
  std::uint64_t reclaim_calls_ = 0;
  std::uint64_t double_reclaims_ = 0;
  std::uint64_t unsound_ = 0;
  std::array<std::uint64_t, 9> ages_{};
  XorShift random_{4};
  std::vector<std::thread> threads_;
};

}  // namespace

TEST_CASE("stress: readers never see a reclaimed snapshot, and each is reclaimed once") {
  struct Setting {
    std::size_t workers, threads, arrivals;
  };
  for (const Setting& setting : {Setting{8, 3, 2}, Setting{3, 2, 1}, Setting{16, 4, 16}}) {
    CAPTURE(setting.workers);
    CAPTURE(setting.threads);
    CAPTURE(setting.arrivals);
    {
      Torture torture(setting.workers, setting.threads, setting.arrivals);
      torture.run(200000 / kSlowdown / setting.arrivals);
      torture.check();
    }
    CHECK(objects_in_memory.load() == 0);
  }
}
