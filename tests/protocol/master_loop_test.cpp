// The master's loop over a scripted transport: no threads at all.
#include "protocol/master_loop.h"

#include <doctest/doctest.h>

#include <algorithm>

#include <ctime>
#include <limits>
#include <string>
#include <vector>

using namespace adbo;
using namespace adbo::detail;

namespace {

/// Answers in a fixed cyclic order; records what was asked of it.
class ScriptedTransport final : public Transport {
 public:
  explicit ScriptedTransport(std::size_t workers) : updates_(workers), requests_(workers) {}
  const UpdateMessage& state(std::size_t worker) const override { return updates_[worker]; }
  std::size_t num_workers() const override { return updates_.size(); }
  Snapshot& draft() override { return draft_; }
  void publish() override {
    current_ = draft_;
    ++published;
  }
  const Snapshot& current() const override { return current_; }
  Request& request(std::size_t worker) override { return requests_[worker]; }
  void send_step(std::size_t worker) override {
    updates_[worker].iteration = requests_[worker].iteration;
    in_flight_.push_back(worker);
  }
  std::optional<std::size_t> next_update() override {
    if (in_flight_.empty() || (interrupt_at >= 0 && taken_ == interrupt_at)) return std::nullopt;
    ++taken_;
    const std::size_t worker = in_flight_.front();
    in_flight_.erase(in_flight_.begin());
    if (fails == worker) updates_[worker].failure = {.failed = true, .non_finite = false, .what = "broken"};
    return worker;
  }
  void accept(std::size_t) override {}
  std::optional<WorkerIncident> update_incident(std::size_t worker) const override {
    const WorkerFailure& failure = updates_[worker].failure;
    if (!failure.failed) return std::nullopt;
    return WorkerIncident{.worker = worker, .non_finite = failure.non_finite, .what = failure.what};
  }
  std::optional<WorkerIncident> reply_incident(std::size_t) const override { return std::nullopt; }
  void drop(std::size_t worker) override { dropped.push_back(worker); }
  bool is_dropped(std::size_t worker) const override {
    return std::find(dropped.begin(), dropped.end(), worker) != dropped.end();
  }
  std::vector<std::size_t> dropped;
  bool hold_all() override { return true; }
  bool discard_all() override { return true; }
  bool exchange(std::span<const std::size_t>, Timing) override { return true; }
  bool settle() override { return true; }
  void set_grace(double) override {}
  const RoundMessage& reply(std::size_t) const override { return reply_; }
  bool has_own_time() const override { return keeps_time; }
  double now_seconds() const override { return static_cast<double>(taken_); }
  bool is_awaited(std::size_t worker) const override {
    return std::find(in_flight_.begin(), in_flight_.end(), worker) != in_flight_.end();
  }
  bool prepare_to_persist(double) override { return true; }
  void persist(StateArchive& archive) override { archive.sized(in_flight_); }

  int published = 0;
  bool keeps_time = true;  ///< of its own
  int interrupt_at = -1;
  std::size_t fails = std::numeric_limits<std::size_t>::max();

 private:
  std::vector<UpdateMessage> updates_;
  std::vector<Request> requests_;
  std::vector<std::size_t> in_flight_;
  Snapshot draft_, current_;
  RoundMessage reply_;
  int taken_ = 0;
};

/// v counts the steps; writes down the order of calls.
class CountingMethod final : public MethodMaster {
 public:
  void fill(Snapshot& draft) override {
    draft.upper_consensus = v;
    draft.lower_consensus = z;
  }
  void fill_step(Request&, std::size_t worker) const override { log += "s" + std::to_string(worker); }
  void step(std::int64_t t, std::span<const std::size_t> active, const WorkerStates&) override {
    log += "|step";
    for (const std::size_t worker : active) log += std::to_string(worker);
    v[0] = t == diverges_at ? diverges_to : static_cast<double>(t + 1);
  }
  bool is_fed_by_arrivals() const override { return is_fed; }
  Outcome collective(std::int64_t t, std::span<const std::size_t> active, Transport&) override {
    log += "c";
    if (!is_fed) v[0] = static_cast<double>(t + 1) + 0.1 * static_cast<double>(active.size());
    if (t == ends_at) return {.ending = Ending{Termination::kStalled, "stuck"}};
    return {};
  }
  Measurement stationarity_gap(Transport&) override {
    log += "g";
    return {.gap = 1 / v[0]};
  }
  std::span<const double> upper_consensus() const override { return v; }
  std::span<const double> lower_consensus() const override { return z; }
  void describe(TraceRecord&) const override {}
  void describe(Summary&) const override {}
  void persist(StateArchive& archive) override { archive(v, z); }

  std::vector<double> v{0}, z{0};
  bool is_fed = true;
  std::int64_t diverges_at = -1, ends_at = -1;
  double diverges_to = std::numeric_limits<double>::quiet_NaN();
  mutable std::string log;
};

class Recorder final : public Observer {
 public:
  ObserverAction on_iteration(const IterationView& view) override {
    iterations.push_back(view.record.iteration);
    active.push_back(view.record.active);
    cpu_seconds.push_back(view.record.cpu_seconds);
    for (volatile int k = 0; burns_cpu && k < 3'000'000;) k = k + 1;
    return view.record.iteration == stop_at ? ObserverAction::kStop : ObserverAction::kContinue;
  }
  std::vector<std::int64_t> iterations, active;
  std::vector<double> cpu_seconds;
  bool burns_cpu = false;
  std::int64_t stop_at = -1;
};

struct Run {
  Options options;
  ScriptedTransport transport{3};
  CountingMethod method;
  Recorder recorder;
  RunLimits limits;
  Summary summary;
  std::vector<double> upper;

  Run() {
    options.active_workers = 2;
    options.max_staleness = 10;
    options.iterations = 3;
    options.clock = ClockKind::kVirtual;
  }
  void go() {
    MasterLoop loop(options, method, transport, limits, &recorder);
    loop.run(summary);
    upper.assign(loop.final_upper().begin(), loop.final_upper().end());
  }
};

}  // namespace

TEST_CASE_FIXTURE(Run, "loop: collect, step, collective, broadcast; the last iteration answers nobody") {
  go();
  CHECK(method.log == "s0s1s2|step01cs0s1|step02cs0s2|step01c");
  CHECK(summary.termination == Termination::kIterationLimit);
  CHECK(summary.iterations == 3);
  CHECK(recorder.iterations == std::vector<std::int64_t>{0, 1, 2, 3});
  CHECK(recorder.active == std::vector<std::int64_t>{0, 2, 2, 2});
  CHECK(summary.upper_change_max == 3);
  // Worker 2's first answer and worker 1's second one were an iteration old when they were used.
  CHECK(summary.staleness_histogram[0] == 4);
  CHECK(summary.staleness_histogram[1] == 2);
  CHECK(transport.published == 4);
}

TEST_CASE_FIXTURE(Run,
                  "loop: under the real clock the run's seconds are the wall's without the observer's time") {
  transport.keeps_time = false;
  go();
  CHECK(summary.virtual_seconds == summary.wall_seconds);
  ScriptedTransport again(3);
  MasterLoop loop(options, method, again, limits, nullptr);
  loop.run(summary);
  CHECK(summary.virtual_seconds == again.now_seconds());
}

TEST_CASE_FIXTURE(Run, "loop: a synchronous method is sent no steps, and all workers count as heard") {
  method.is_fed = false;
  go();
  CHECK(method.log == "ccc");
  CHECK(summary.iterations == 3);
  CHECK(summary.termination == Termination::kIterationLimit);
  CHECK(recorder.active == std::vector<std::int64_t>{0, 3, 3, 3});
  CHECK(transport.published == 4);
  CHECK(upper[0] == 3.3);
}

TEST_CASE_FIXTURE(Run, "loop: a method may end the run by itself, after an iteration that counts") {
  method.is_fed = false;
  method.ends_at = 1;
  go();
  CHECK(summary.termination == Termination::kStalled);
  CHECK(summary.message == "stuck");
  CHECK(summary.iterations == 2);
  CHECK(recorder.iterations == std::vector<std::int64_t>{0, 1, 2});
}

TEST_CASE_FIXTURE(Run, "loop: the run's processor time is without the observer's") {
  recorder.burns_cpu = true;
  go();
  const double burnt = [] {  // what one call burns, at least
    const std::clock_t start = std::clock();
    for (volatile int k = 0; k < 3'000'000;) k = k + 1;
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  }();
  REQUIRE(recorder.cpu_seconds.size() == 4);
  for (std::size_t k = 1; k < 4; ++k) CHECK(recorder.cpu_seconds[k] >= recorder.cpu_seconds[k - 1]);
  // Three iterations of a scripted transport: microseconds. An observer's call takes a thousand times that.
  CHECK(recorder.cpu_seconds.back() < 0.5 * burnt);
  CHECK(summary.cpu_seconds < 0.5 * burnt);
}

TEST_CASE_FIXTURE(Run, "loop: zero iterations ask nothing of anybody") {
  options.iterations = 0;
  go();
  CHECK(method.log.empty());
  CHECK(summary.termination == Termination::kIterationLimit);
  CHECK(summary.iterations == 0);
  CHECK(recorder.iterations == std::vector<std::int64_t>{0});
}

TEST_CASE_FIXTURE(Run, "loop: an interruption leaves the last complete iterate") {
  transport.interrupt_at = 3;
  limits.request_stop();
  limits.clear_stop();
  go();
  CHECK(summary.termination == Termination::kTimeLimit);
  CHECK(summary.iterations == 1);
  CHECK(upper[0] == 1);
}

TEST_CASE_FIXTURE(Run, "loop: a failed worker ends the run with its name and the iteration") {
  transport.fails = 2;
  go();
  CHECK(summary.termination == Termination::kFailed);
  CHECK(summary.message == "worker 2, iteration 2: broken");
}

TEST_CASE_FIXTURE(Run, "loop: a non-finite iterate ends the run; the result is the last finite one") {
  method.diverges_at = 1;
  go();
  CHECK(summary.termination == Termination::kDiverged);
  CHECK(summary.message.find("upper variable v") != std::string::npos);
  CHECK(summary.message.find("iteration 2") != std::string::npos);
  CHECK(upper[0] == 1);
  CHECK(summary.upper_change_max == 1);
}

TEST_CASE_FIXTURE(Run, "loop: an iterate that runs away is a divergence long before it overflows") {
  method.diverges_at = 1;
  method.diverges_to = 1e13;
  go();
  CHECK(summary.termination == Termination::kDiverged);
  CHECK(summary.message.find("running away") != std::string::npos);
  CHECK(upper[0] == 1);
}

TEST_CASE_FIXTURE(Run, "loop: an observer can stop it") {
  recorder.stop_at = 2;
  go();
  CHECK(summary.termination == Termination::kStopped);
  CHECK(summary.iterations == 2);
}

TEST_CASE_FIXTURE(Run, "loop: the gap is measured when due and ends the run at its target") {
  options.iterations = 100;
  options.stationarity_interval = 2;
  options.stationarity_target = 0.25;
  go();
  CHECK(summary.termination == Termination::kConverged);
  CHECK(summary.stationarity_iteration == 4);
  CHECK(summary.iterations == 4);
  CHECK(summary.stationarity_gap == 0.25);
}
