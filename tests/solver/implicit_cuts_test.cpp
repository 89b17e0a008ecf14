// ADBO with implicit cuts: what it reaches, that it is a function of its options, and what it refuses.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "adbo/adbo.h"
#include "support/solver_checks.h"

using namespace adbo;
using adbo::test::largest_difference;

namespace {

Options implicit_options(std::int64_t iterations) {
  Options options;
  options.method = Method::kAdbo;
  options.cuts = CutConstruction::kImplicit;
  options.clock = ClockKind::kVirtual;
  options.delay = "lognormal:3.5,1";
  options.iterations = iterations;
  options.threads = 2;
  options.adjoint_damping = 0;  // the exact adjoint
  return options;
}

double norm(const std::vector<double>& a) {
  double sum = 0;
  for (const double entry : a) sum += entry * entry;
  return std::sqrt(sum);
}

std::string refusal(const Options& options) {
  const Status status = validate_options(options, 6);
  return status.ok() ? "accepted" : status.message();
}

}  // namespace

TEST_CASE("implicit cuts: come near the quadratic family's solution with S < N, stale answers, stragglers") {
  // G_i with and without x, all coordinates for everybody and overlapping supports.
  for (const LowerCopies copies : {LowerCopies::kEliminated, LowerCopies::kLocal}) {
    for (const std::size_t support : {std::size_t{0}, std::size_t{3}}) {
      for (const bool uses_x : {true, false}) {
        if (support != 0 && !uses_x) continue;  // some coordinates would then be free
        const QuadraticSettings settings{.upper_dim = 4,
                                         .lower_dim = 6,
                                         .num_workers = 6,
                                         .condition = 5,
                                         .upper_uses_x = uses_x,
                                         .support_size = support,
                                         .seed = 3};
        QuadraticInstance instance = make_quadratic(settings);
        Options options = implicit_options(12000);
        options.active_workers = 3;
        options.stragglers = "1:4";
        options.lower_copies = copies;
        const Result result = Solver(options).solve(instance.problem);
        REQUIRE(result.summary.termination == Termination::kIterationLimit);
        CAPTURE(support);
        CAPTURE(uses_x);
        CAPTURE(static_cast<int>(copies));
        // The relaxation eps_t shrinks as 1 / cuts and the answers are stale, with local copies those of the
        // copies too. Seen over ten seeds: 0.002 to 0.1 of the way from the start with eliminated copies,
        // mostly 0.03 to 0.2 with local ones (docs/practical-cuts.md).
        const bool eliminated = copies == LowerCopies::kEliminated;
        const std::vector<double> start(4, 0.0);
        const double way = largest_difference(start, instance.upper_solution);
        CHECK(largest_difference(result.upper, instance.upper_solution) < (eliminated ? 0.15 : 0.5) * way);
        CHECK(norm(quadratic_hypergradient(settings, result.upper)) <
              (eliminated ? 0.05 : 0.2) * norm(quadratic_hypergradient(settings, start)));
        CHECK(result.summary.barrier_virtual_seconds == 0);
        CHECK(result.summary.counts.cuts_added > 100);
      }
    }
  }
}

TEST_CASE("implicit cuts: z is carried along with y-hat, which runs far where the lower level is flat") {
  // z left behind would have to be pulled after y-hat by cuts; seen then: 0.15 to 0.8, now 0.01 to 0.04.
  for (const std::uint64_t seed : {3, 4, 5}) {
    CAPTURE(seed);
    QuadraticInstance instance =
        make_quadratic({.upper_dim = 4, .lower_dim = 6, .num_workers = 6, .condition = 50, .seed = seed});
    Options options = implicit_options(3000);
    options.active_workers = 3;
    options.stragglers = "1:4";
    const Result result = Solver(options).solve(instance.problem);
    const double way = largest_difference(std::vector<double>(4, 0.0), instance.upper_solution);
    CHECK(largest_difference(result.upper, instance.upper_solution) < 0.1 * way);
  }
}

TEST_CASE("implicit cuts: the same bits for every executor and number of threads") {
  QuadraticInstance instance = make_quadratic({.num_workers = 5, .seed = 4});
  for (const LowerCopies copies : {LowerCopies::kEliminated, LowerCopies::kLocal}) {
    Options options = implicit_options(300);
    options.lower_copies = copies;
    const Result reference = Solver(options).solve(instance.problem);
    REQUIRE(reference.summary.counts.cuts_added > 0);
    REQUIRE(reference.summary.upper_change_max > 0);
    test::check_same_bits_everywhere(instance.problem, options, reference);
  }
}

TEST_CASE(
    "implicit cuts: fixed steps with ascending multipliers move v, bounds hold, zero iterations return") {
  QuadraticInstance instance = make_quadratic({.num_workers = 4, .seed = 5});
  Options options = implicit_options(500);
  options.steps = StepRule::kFixed;
  options.multipliers = MultiplierRule::kAscent;
  const Result fixed = Solver(options).solve(instance.problem);
  REQUIRE(fixed.summary.termination == Termination::kIterationLimit);
  CHECK(fixed.summary.upper_change_max > 0);

  instance.problem.set_upper_bounds(-0.05, 0.05);
  const Result bounded = Solver(implicit_options(500)).solve(instance.problem);
  for (const double v : bounded.upper) CHECK(std::abs(v) <= 0.05);
  CHECK(largest_difference(bounded.upper, std::vector<double>(4, 0.0)) == 0.05);

  const Result none = Solver(implicit_options(0)).solve(instance.problem);
  CHECK(none.upper == std::vector<double>(4, 0.0));
}

TEST_CASE("implicit cuts: combinations without a meaning are refused in words") {
  CHECK(refusal(implicit_options(10)) == "accepted");
  Options options = implicit_options(10);
  options.method = Method::kAsyncHypergradient;
  CHECK(refusal(options).find("async-hypergradient has no cuts") != std::string::npos);
  options.method = Method::kAuto;
  CHECK(refusal(options).find("async-hypergradient has no cuts") != std::string::npos);
  options.method = Method::kExact;
  CHECK(refusal(options).find("exact has no cuts") != std::string::npos);
  options = implicit_options(10);
  options.multipliers = MultiplierRule::kAscent;
  CHECK(refusal(options).find("needs steps = fixed") != std::string::npos);
  options = implicit_options(10);
  options.steps = StepRule::kTheorem2;
  options.cut_regularization_floor = options.dual_regularization_floor = 0.1;
  CHECK(refusal(options).find("needs cuts = unrolled") != std::string::npos);
  options = implicit_options(10);
  options.consensus = Consensus::kFull;
  CHECK(refusal(options).find("consensus = full needs cuts = unrolled") != std::string::npos);
  options = implicit_options(10);
  options.max_cuts = 1000;
  CHECK(refusal(options).find("at most 100") != std::string::npos);
  options = implicit_options(10);
  options.cuts = CutConstruction::kUnrolled;
  options.multipliers = MultiplierRule::kExact;
  CHECK(refusal(options).find("multipliers = exact needs cuts = implicit") != std::string::npos);
}
