#include "runtime/in_process_transport.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

using namespace adbo::detail;
using adbo::ExecutorKind;

namespace {

/// Counts its own steps: y = [steps taken, iteration of the request, snapshot seen].
class CountingWorker final : public WorkerProgram {
 public:
  explicit CountingWorker(std::size_t index) : index_(index) {}
  void step(const Request& request, const Snapshot& snapshot, const UpdateMessage& previous,
            UpdateMessage& out) override {
    if (request.iteration == 66) throw std::runtime_error("worker " + std::to_string(index_) + " has enough");
    if (request.iteration == 67) throw NonFinite("a value is nan");
    out.iteration = request.iteration;
    out.lower_local[0] = previous.lower_local[0] + 1;
    out.lower_local[1] = static_cast<double>(request.iteration);
    out.lower_local[2] = static_cast<double>(snapshot.iteration);
  }
  void round(const Request& request, const Snapshot&, const UpdateMessage& previous,
             RoundMessage& out) override {
    out.point[0] = previous.lower_local[0];
    out.point[1] = static_cast<double>(request.round);
  }
  void size(UpdateMessage& message) const override { message.lower_local.assign(3, 0); }
  void size(RoundMessage& message) const override { message.point.assign(3, 0); }
  void fill_start(UpdateMessage& message) const override { message.lower_local = {100, 0, 0}; }

 private:
  std::size_t index_;
};

struct Bench {
  RunLimits limits;
  std::unique_ptr<InProcessTransport> transport;
  std::vector<std::size_t> everyone;

  Bench(std::size_t workers, ExecutorKind kind, bool is_virtual = true) {
    InProcessTransport::Parts parts;
    for (std::size_t i = 0; i < workers; ++i) {
      parts.programs.push_back(std::make_unique<CountingWorker>(i));
      everyone.push_back(i);
    }
    parts.make_snapshot = [] { return std::make_unique<Snapshot>(); };
    DelayModel delays({.none = false, .mu = 0, .sigma = 1}, {}, 3, workers);
    if (is_virtual) {
      parts.clock = std::make_unique<VirtualClock>(std::move(delays));
    } else {
      parts.clock = std::make_unique<RealClock>(DelayModel({}, {}, 3, workers));
    }
    parts.executor = make_executor(kind, 2);
    transport = std::make_unique<InProcessTransport>(std::move(parts), limits);
    publish(0);
  }
  void publish(std::int64_t iteration) {
    transport->draft().iteration = iteration;
    transport->publish();
  }
  void send(std::size_t worker, std::int64_t iteration) {
    Request& request = transport->request(worker);
    request.ask = Ask::kStep;
    request.iteration = iteration;
    transport->send_step(worker);
  }
  void ask_rounds(std::int64_t round) {
    for (std::size_t i = 0; i < transport->num_workers(); ++i) {
      transport->request(i).ask = Ask::kForward;
      transport->request(i).round = round;
    }
  }
};

constexpr ExecutorKind kKinds[] = {ExecutorKind::kInline, ExecutorKind::kThreads, ExecutorKind::kTbb};

}  // namespace

TEST_CASE("transport: a worker sees the snapshot of its dispatch, and its state accumulates") {
  for (const ExecutorKind kind : kKinds) {
    Bench bench(3, kind);
    auto& transport = *bench.transport;
    CHECK(transport.state(1).lower_local[0] == 100);
    for (std::int64_t t = 0; t < 50; ++t) {
      for (std::size_t i = 0; i < 3; ++i) bench.send(i, t);
      bench.publish(t + 1);  // newer than what the steps were given
      for (int k = 0; k < 3; ++k) {
        const auto worker = transport.next_update();
        REQUIRE(worker);
        transport.accept(*worker);
        CHECK(transport.state(*worker).lower_local[0] == 101 + static_cast<double>(t));
        CHECK(transport.state(*worker).lower_local[2] == static_cast<double>(t));
      }
    }
  }
}

TEST_CASE(
    "transport: held answers keep their order and are the next ones; the accepted state stays the older") {
  for (const ExecutorKind kind : kKinds) {
    Bench bench(4, kind);
    auto& transport = *bench.transport;
    DelayModel probe({.none = false, .mu = 0, .sigma = 1}, {}, 3, 4);
    std::vector<std::pair<double, std::size_t>> due;
    for (std::size_t i = 0; i < 4; ++i) due.emplace_back(probe.draw_seconds(i), i);
    std::sort(due.begin(), due.end());

    for (std::size_t i = 0; i < 4; ++i) bench.send(i, 0);
    const auto first = transport.next_update();
    REQUIRE(first);
    CHECK(*first == due[0].second);
    transport.accept(*first);
    REQUIRE(transport.hold_all());
    CHECK(transport.now_seconds() == due[3].first);  // the slowest decides
    CHECK(transport.state(due[1].second).lower_local[0] == 100);
    bench.ask_rounds(5);
    REQUIRE(transport.exchange(bench.everyone, Transport::Timing::kTimed));
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(transport.reply(i).point[0] == 101);  // the worker's own newest state
      CHECK(transport.reply(i).point[1] == 5);
    }
    for (std::size_t k = 1; k < 4; ++k) {
      const auto worker = transport.next_update();
      REQUIRE(worker);
      CHECK(*worker == due[k].second);
      transport.accept(*worker);
      CHECK(transport.state(*worker).lower_local[0] == 101);
    }
  }
}

TEST_CASE("transport: discarded answers move the worker, not the accepted state, however often") {
  for (const ExecutorKind kind : kKinds) {
    Bench bench(2, kind);
    auto& transport = *bench.transport;
    for (int round = 0; round < 10; ++round) {  // more than the ring is deep
      for (std::size_t i = 0; i < 2; ++i) bench.send(i, round);
      REQUIRE(transport.discard_all());
      for (std::size_t i = 0; i < 2; ++i) CHECK(transport.state(i).lower_local[0] == 100);
    }
    bench.send(0, 10);
    const auto worker = transport.next_update();
    REQUIRE(worker);
    transport.accept(*worker);
    CHECK(transport.state(0).lower_local[0] == 111);
    CHECK(transport.state(1).lower_local[0] == 100);
  }
}

TEST_CASE("transport: an untimed exchange takes no time and disturbs no step in flight") {
  for (const ExecutorKind kind : kKinds) {
    Bench bench(3, kind);
    auto& transport = *bench.transport;
    for (std::size_t i = 0; i < 3; ++i) bench.send(i, 0);
    REQUIRE(transport.settle());
    for (int k = 0; k < 5; ++k) {
      bench.ask_rounds(k);
      REQUIRE(transport.exchange(bench.everyone, Transport::Timing::kUntimed));
      CHECK(transport.reply(2).point[1] == k);
    }
    CHECK(transport.now_seconds() == 0);
    for (int k = 0; k < 3; ++k) {
      const auto worker = transport.next_update();
      REQUIRE(worker);
      transport.accept(*worker);
      CHECK(transport.state(*worker).lower_local[0] == 101);
    }
  }
}

TEST_CASE("transport: what a worker throws comes as its message's failure") {
  for (const ExecutorKind kind : kKinds) {
    Bench bench(2, kind);
    auto& transport = *bench.transport;
    bench.send(1, 66);
    auto worker = transport.next_update();
    REQUIRE(worker);
    transport.accept(*worker);
    CHECK(transport.state(1).failure.failed);
    CHECK_FALSE(transport.state(1).failure.non_finite);
    CHECK(transport.state(1).failure.what == "worker 1 has enough");
    bench.send(0, 67);
    worker = transport.next_update();
    REQUIRE(worker);
    transport.accept(*worker);
    CHECK(transport.state(0).failure.non_finite);
  }
}

TEST_CASE("transport: real clock, every answer comes once") {
  for (const ExecutorKind kind : kKinds) {
    Bench bench(5, kind, /*is_virtual=*/false);
    auto& transport = *bench.transport;
    std::vector<int> answers(5);
    for (std::size_t i = 0; i < 5; ++i) bench.send(i, 0);
    for (int k = 0; k < 500; ++k) {
      const auto worker = transport.next_update();
      REQUIRE(worker);
      transport.accept(*worker);
      CHECK(transport.state(*worker).lower_local[0] == 101 + answers[*worker]);
      ++answers[*worker];
      bench.send(*worker, 0);
    }
  }
}

TEST_CASE("transport: a stop request ends a wait") {
  Bench bench(2, ExecutorKind::kThreads);
  bench.limits.request_stop();
  CHECK_FALSE(bench.transport->next_update());  // nothing was sent: it would wait for ever
}
