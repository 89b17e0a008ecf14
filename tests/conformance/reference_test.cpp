// The engine against the plain reference, iteration by iteration, under the virtual clock.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "engine_run.h"
#include "scenarios.h"
#include "support/reference/reference_adbo.h"

namespace adbo::conformance {
namespace {

using reference::Vector;

/// Both sides calculate in double and differ by the order of their sums: errors of about 1e-16 per operation,
/// which 200 iterations of these contractive steps amplify to 1e-13 at most. An error in a formula is orders
/// larger.
constexpr double kTolerance = 1e-10;
/// Sums of few positive numbers.
constexpr double kTimeTolerance = 1e-12;

double difference(const std::vector<double>& engine, const Vector& plain) {
  const Eigen::Map<const Vector> values(engine.data(), static_cast<reference::Index>(engine.size()));
  return (values - plain).norm() / std::max(1.0, plain.norm());
}

double difference(double engine, double plain) {
  return std::abs(engine - plain) / std::max(1.0, std::abs(plain));
}

/// What differs between the two sides after one iteration: "" or the first quantity that does and by how
/// much.
class Comparison {
 public:
  void same(const char* what, std::int64_t engine, std::int64_t plain) {
    if (engine != plain) report(what, std::to_string(engine) + " instead of " + std::to_string(plain));
  }
  void close(const char* what, double engine_minus_plain, double tolerance = kTolerance) {
    if (!(engine_minus_plain < tolerance))
      report(what, "relative difference " + std::string(doctest::toString(engine_minus_plain).c_str()));
  }
  /// Before the first polytope update both sides say NaN.
  void close_where_known(const char* what, double engine, double plain) {
    if (std::isnan(engine) && std::isnan(plain)) return;
    close(what, difference(engine, plain));
  }
  [[nodiscard]] const std::string& found() const { return found_; }

 private:
  void report(const char* what, const std::string& how) {
    if (found_.empty()) found_ = std::string(what) + ": " + how;
  }
  std::string found_;
};

std::string compare(const Observed& engine, const reference::Iteration& plain) {
  Comparison c;
  c.same("active", engine.record.active, static_cast<std::int64_t>(plain.active.size()));
  c.close("virtual_seconds", difference(engine.record.virtual_seconds, plain.virtual_seconds),
          kTimeTolerance);
  c.same("max_staleness", engine.record.max_staleness, plain.longest_silence);
  c.close_where_known("lower_objective", engine.record.lower_objective, plain.lower_objective);
  c.close_where_known("lower_distance", engine.record.lower_distance, plain.lower_distance);
  c.same("cuts", engine.record.cuts, static_cast<std::int64_t>(plain.multipliers.size()));
  c.close("v", difference(engine.upper, plain.upper));
  c.close("z", difference(engine.lower, plain.lower));
  // The mean over all workers is defined once all were heard.
  if (!std::isnan(plain.upper_objective))
    c.close("upper_objective", difference(engine.record.upper_objective, plain.upper_objective));
  c.close("stationarity_gap", difference(engine.record.stationarity_gap, plain.stationarity_gap));
  return c.found();
}

/// The run has done what its scenario is for.
void check_happened(const Scenario& scenario, const Instance& instance, const reference::Run& plain) {
  const reference::Totals& totals = plain.totals;
  CHECK(totals.cuts_added > 0);
  CHECK((totals.cuts_dropped - totals.cuts_evicted > 0) >= scenario.happened.cuts_dropped);
  CHECK((totals.cuts_evicted > 0) >= scenario.happened.cuts_evicted);
  CHECK((totals.overdue_waits > 0) >= scenario.happened.overdue_waits);
  CHECK((totals.updates_without_cut > 0) >= scenario.happened.updates_without_cut);
  const reference::Iteration& last = plain.iterations.back();
  CHECK((last.upper - instance.plain.upper_start).norm() > 1e-5);
  const auto at_bound = [&](double value) {
    return value == instance.plain.upper_lowest || value == instance.plain.upper_highest;
  };
  const auto meets_bound = [&](const reference::Iteration& it) {
    return std::any_of(it.upper.begin(), it.upper.end(), at_bound);
  };
  CHECK(std::any_of(plain.iterations.begin(), plain.iterations.end(), meets_bound) ==
        scenario.happened.bounds_met);
  const auto is_binding = [](const reference::Iteration& it) {
    return std::any_of(it.multipliers.begin(), it.multipliers.end(),
                       [](double lambda) { return lambda > 0; });
  };
  CHECK(std::any_of(plain.iterations.begin(), plain.iterations.end(), is_binding));
}

TEST_CASE("every iteration of the engine is the reference's") {
  for (const Scenario& scenario : scenarios()) {
    CAPTURE(scenario.name);
    REQUIRE(scenario.options.stationarity_interval == 1);
    Instance instance = scenario.instance();
    const reference::Run plain = reference::run(instance.plain, scenario.options, kIterations);
    check_happened(scenario, instance, plain);

    const EngineRun engine = run_engine(instance.product, scenario.options);
    REQUIRE_MESSAGE(engine.result.status.ok(), engine.result.status.message());
    REQUIRE(engine.result.summary.termination == Termination::kIterationLimit);
    REQUIRE(engine.seen.size() == kIterations + 1);
    const reference::Vector start = instance.plain.upper_start.cwiseMax(instance.plain.upper_lowest)
                                        .cwiseMin(instance.plain.upper_highest);
    CHECK(difference(engine.seen[0].upper, start) == 0);
    CHECK(difference(engine.seen[0].lower, instance.plain.lower_start) == 0);
    for (std::size_t t = 0; t < plain.iterations.size(); ++t) {
      CAPTURE(t);
      const std::string found = compare(engine.seen[t + 1], plain.iterations[t]);
      CHECK(found == "");
      if (!found.empty()) break;  // all later iterations differ too
    }
    const Summary& summary = engine.result.summary;
    CHECK(summary.counts.cuts_added == plain.totals.cuts_added);
    CHECK(summary.counts.cuts_dropped == plain.totals.cuts_dropped);
    CHECK(difference(summary.barrier_virtual_seconds, plain.totals.barrier_virtual_seconds) < kTimeTolerance);
    CHECK(difference(engine.result.upper, plain.iterations.back().upper) < kTolerance);
    CHECK(difference(engine.result.lower, plain.iterations.back().lower) < kTolerance);
  }
}

}  // namespace
}  // namespace adbo::conformance
