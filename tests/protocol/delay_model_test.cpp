#include "runtime/delay_model.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace adbo::detail;

TEST_CASE("delay grammar") {
  REQUIRE(parse_delay("none"));
  CHECK(parse_delay("none")->none);
  const auto delay = parse_delay("lognormal:3.5,1");
  REQUIRE(delay);
  CHECK_FALSE(delay->none);
  CHECK(delay->mu == 3.5);
  CHECK(delay->sigma == 1);
  for (const std::string bad :
       {"", "None", "lognormal", "lognormal:", "lognormal:3.5", "lognormal:3.5,", "lognormal:,1",
        "lognormal:3.5,-1", "lognormal:nan,1", "lognormal:inf,1", "lognormal:3.5,1,2", "lognormal:20.1,1",
        "lognormal:999,1", "lognormal:3.5,20.1", "lognormal:3.5, 1", "normal:0,1"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_delay(bad));
  }
}

TEST_CASE("straggler grammar") {
  REQUIRE(parse_stragglers("none"));
  CHECK(parse_stragglers("none")->count == 0);
  const auto stragglers = parse_stragglers("3:4.5");
  REQUIRE(stragglers);
  CHECK(stragglers->count == 3);
  CHECK(stragglers->factor == 4.5);
  for (const std::string bad :
       {"", "3", "3:", ":4", "-1:4", "3:0", "3:-4", "3:nan", "3.5:4", "3:4:5", "three:4"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_stragglers(bad));
  }
}

TEST_CASE(
    "delays: the distribution is the one named, stragglers take longer, streams are independent of each "
    "other") {
  constexpr int kDraws = 20000;
  DelayModel model({.none = false, .mu = 3.5, .sigma = 1}, {.count = 1, .factor = 4}, 7, 2);
  std::vector<double> slow, normal;
  for (int k = 0; k < kDraws; ++k) slow.push_back(std::log(model.draw_seconds(0) * 1000));
  for (int k = 0; k < kDraws; ++k) normal.push_back(std::log(model.draw_seconds(1) * 1000));
  const auto mean = [](const std::vector<double>& x) {
    double sum = 0;
    for (const double value : x) sum += value;
    return sum / static_cast<double>(x.size());
  };
  // The mean of 20,000 unit-variance draws has deviation 0.007: five of them.
  CHECK(mean(normal) == doctest::Approx(3.5).epsilon(0.01));
  CHECK(mean(slow) == doctest::Approx(3.5 + std::log(4.0)).epsilon(0.01));
  double variance = 0;
  for (const double value : normal) variance += (value - 3.5) * (value - 3.5) / kDraws;
  CHECK(variance == doctest::Approx(1.0).epsilon(0.05));

  // Worker 1's delays do not depend on what worker 0 drew.
  DelayModel other({.none = false, .mu = 3.5, .sigma = 1}, {.count = 1, .factor = 4}, 7, 2);
  for (int k = 0; k < 10; ++k)
    CHECK(std::log(other.draw_seconds(1) * 1000) == normal[static_cast<std::size_t>(k)]);
  CHECK(DelayModel({}, {}, 7, 2).draw_seconds(0) == 0);
}

TEST_CASE("delays: a draw beyond every clock is cut, not wrapped") {
  for (const double mu : {30.0, 60.0, 1000.0, 1e300}) {
    DelayModel model({.none = false, .mu = mu, .sigma = 1}, {.count = 1, .factor = 1e300}, 7, 2);
    for (const std::size_t worker : {0, 1}) {
      const double delay = model.draw_seconds(worker);
      CHECK(delay > 1e5);
      CHECK(delay <= kLongestDelaySeconds);
    }
  }
}
