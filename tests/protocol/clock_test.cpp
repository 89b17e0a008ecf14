#include "runtime/clock.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

using namespace adbo::detail;
using Kind = Clock::Next::Kind;

TEST_CASE("virtual clock: due order, not sending order; time is the due time and never falls") {
  DelayModel probe({.none = false, .mu = 3.5, .sigma = 1}, {}, 1, 4);
  std::vector<std::pair<double, std::size_t>> due;
  for (std::size_t worker = 0; worker < 4; ++worker) due.emplace_back(probe.draw_seconds(worker), worker);
  std::sort(due.begin(), due.end());

  VirtualClock clock(DelayModel({.none = false, .mu = 3.5, .sigma = 1}, {}, 1, 4));
  for (std::size_t worker = 0; worker < 4; ++worker) clock.sent(worker);
  for (const auto& [time, worker] : due) {
    const Clock::Next next = clock.next();
    CHECK(next.kind == Kind::kAwaitWorker);
    CHECK(next.worker == worker);
    clock.take(worker);
    CHECK(clock.now_seconds() == time);
  }
  CHECK(clock.next().kind == Kind::kAwaitAny);
}

TEST_CASE("virtual clock: equal due times in order of sending") {
  VirtualClock clock(DelayModel({}, {}, 1, 3));
  for (const std::size_t worker : {2, 0, 1}) clock.sent(worker);
  for (const std::size_t worker : {2, 0, 1}) {
    CHECK(clock.next().worker == worker);
    clock.take(worker);
  }
  CHECK(clock.now_seconds() == 0);
}

TEST_CASE("real clock: without a delay an answer is due when it is seen; with one, later") {
  RealClock undelayed(DelayModel({}, {}, 1, 2));
  undelayed.sent(0);
  undelayed.sent(1);
  CHECK(undelayed.next().kind == Kind::kAwaitAny);
  undelayed.seen(1);
  undelayed.seen(0);
  CHECK(undelayed.next().kind == Kind::kReady);
  CHECK(undelayed.next().worker == 1);
  undelayed.take(1);
  CHECK(undelayed.next().worker == 0);

  RealClock endless(DelayModel({.none = false, .mu = 1000, .sigma = 0}, {}, 1, 1));
  endless.seen(0);
  CHECK(endless.next().kind == Kind::kAwaitTime);

  RealClock delayed(DelayModel({.none = false, .mu = 12, .sigma = 0}, {}, 1, 1));  // e^12 ms: minutes
  delayed.seen(0);
  const Clock::Next next = delayed.next();
  CHECK(next.kind == Kind::kAwaitTime);
  CHECK(next.time > std::chrono::steady_clock::now() + std::chrono::seconds(100));
}
