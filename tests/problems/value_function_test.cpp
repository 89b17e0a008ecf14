#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "adbo/measures.h"
#include "adbo/problems/hyper_cleaning.h"
#include "adbo/problems/quadratic.h"
#include "adbo/problems/regularization_tuning.h"
#include "test_rows.h"

namespace {

using adbo::ResolveOptions;
using adbo::value_function;
using adbo::ValueFunction;
using adbo::test::random_point;
using adbo::test::random_rows;
using adbo::test::relative_error;

TEST_CASE("value function: the closed form of the quadratic family") {
  const adbo::QuadraticSettings variants[] = {
      {.condition = 100},
      {.upper_dim = 9, .lower_dim = 5, .num_workers = 5, .heterogeneity = 0.5, .support_size = 3},
      {.upper_dim = 5, .lower_dim = 6, .num_workers = 3, .upper_uses_x = false}};
  for (const adbo::QuadraticSettings& settings : variants) {
    adbo::QuadraticInstance instance = adbo::make_quadratic(settings);
    const ResolveOptions options{.gradient_tolerance = 1e-11};
    const ValueFunction value = value_function(instance.problem, instance.upper_solution, {}, options);
    CHECK(value.converged);
    CHECK(value.reason == "converged");
    CHECK(value.gradient_norm <= 1e-11);
    CHECK(value.evaluations > 0);
    CHECK(value.seconds > 0);
    // The error in y* is at most condition times the gradient norm.
    CHECK(value.upper_objective == doctest::Approx(instance.value).epsilon(1e-8));
    CHECK(relative_error(value.lower, instance.lower_solution) < 1e-8);

    // Its slope elsewhere is the hypergradient.
    const std::vector<double> x = random_point(settings.upper_dim, 4);
    const std::vector<double> slope = adbo::test::difference_gradient(
        [&](std::span<const double> point) {
          return value_function(instance.problem, point, {}, options).upper_objective;
        },
        x);
    CHECK(relative_error(slope, adbo::quadratic_hypergradient(settings, {x.begin(), x.end()})) < 1e-5);
  }
}

TEST_CASE("value function: given up before the evaluation that is asked about") {
  adbo::QuadraticInstance instance = adbo::make_quadratic({.condition = 100});
  int asked = 0;
  ResolveOptions options{.gradient_tolerance = 1e-11, .threads = 2};
  options.give_up = [&] { return ++asked > 3; };
  CHECK_THROWS_AS((void)value_function(instance.problem, instance.upper_solution, {}, options),
                  adbo::GivenUp);
  CHECK(asked == 4);

  // Asking changes no bit.
  options.give_up = [] { return false; };
  const ValueFunction asked_in_vain = value_function(instance.problem, instance.upper_solution, {}, options);
  options.give_up = nullptr;
  const ValueFunction plain = value_function(instance.problem, instance.upper_solution, {}, options);
  CHECK(asked_in_vain.upper_objective == plain.upper_objective);
  CHECK(asked_in_vain.lower == plain.lower);
}

TEST_CASE("value function: the start decides how long it takes, not what is found") {
  adbo::QuadraticInstance instance = adbo::make_quadratic({.condition = 100});
  const ResolveOptions options{.gradient_tolerance = 1e-10};
  const ValueFunction far =
      value_function(instance.problem, instance.upper_solution, random_point(6, 1, 100), options);
  const ValueFunction near =
      value_function(instance.problem, instance.upper_solution, instance.lower_solution, options);
  CHECK(far.upper_objective == doctest::Approx(near.upper_objective).epsilon(1e-8));
  CHECK(near.evaluations < far.evaluations);
}

TEST_CASE("value function: the same bits for any number of threads") {
  std::vector<adbo::CleaningShard> shards;
  for (std::uint64_t i = 0; i < 7; ++i) {
    shards.push_back({random_rows(20 + 5 * i, 9, 3, 10 + i), random_rows(12 + i, 9, 3, 20 + i)});
  }
  adbo::Problem problem = adbo::make_hyper_cleaning(shards, {.classes = 3});
  const std::vector<double> x = random_point(problem.upper_dim(), 3);
  const ValueFunction serial = value_function(problem, x, {}, {.threads = 1});
  CHECK(serial.converged);
  for (const std::int64_t threads : {2, 5, 0}) {
    const ValueFunction parallel = value_function(problem, x, {}, {.threads = threads});
    CHECK(parallel.upper_objective == serial.upper_objective);
    CHECK(parallel.lower_objective == serial.lower_objective);
    CHECK(parallel.gradient_norm == serial.gradient_norm);
    CHECK(parallel.evaluations == serial.evaluations);
    CHECK(parallel.lower == serial.lower);
  }
}

TEST_CASE("value function: coefficients that differ by ten orders of magnitude") {
  const std::vector<adbo::TuningShard> shards = {{random_rows(60, 12, 2, 1), random_rows(30, 12, 2, 2)},
                                                 {random_rows(50, 12, 2, 3), random_rows(20, 12, 2, 4)}};
  adbo::Problem problem = adbo::make_regularization_tuning(shards, {});
  std::vector<double> psi(12);
  for (std::size_t j = 0; j < psi.size(); ++j) psi[j] = j % 3 == 0 ? 12 : -12;
  const ValueFunction value = value_function(problem, psi, {}, {.gradient_tolerance = 1e-10});
  CHECK(value.converged);
  CHECK(value.gradient_norm <= 1e-10);
  CHECK(value.evaluations < 100);
  // Weights that cost e^12 are as good as zero.
  for (std::size_t j = 0; j < psi.size(); j += 3) CHECK(std::abs(value.lower[j]) < 1e-5);
  const ValueFunction parallel =
      value_function(problem, psi, {}, {.gradient_tolerance = 1e-10, .threads = 1});
  CHECK(parallel.lower == value.lower);
}

TEST_CASE("value function: a limit that is too low is said") {
  adbo::QuadraticInstance instance = adbo::make_quadratic({.lower_dim = 30, .condition = 1000});
  const ValueFunction value = value_function(instance.problem, instance.upper_solution, {},
                                             {.gradient_tolerance = 1e-12, .max_evaluations = 3});
  CHECK_FALSE(value.converged);
  CHECK(value.reason == "evaluation limit");
  CHECK(value.evaluations <= 3);
  CHECK(value.gradient_norm > 1e-12);
}

TEST_CASE("value function: an unbounded lower level is said") {
  // The paper's own parametrization with a negative coefficient: logistic losses grow at most linearly, the
  // penalty falls as -w^2.
  const std::vector<adbo::TuningShard> shards = {{random_rows(30, 4, 2, 1), random_rows(30, 4, 2, 2)},
                                                 {random_rows(20, 4, 2, 3), random_rows(10, 4, 2, 4)}};
  adbo::Problem problem =
      adbo::make_regularization_tuning(shards, {.parametrization = adbo::Parametrization::kLinear});
  const ValueFunction value = value_function(problem, std::vector<double>{0.1, 0.1, -0.1, 0.1}, {}, {});
  CHECK_FALSE(value.converged);
  CHECK(value.reason == "unbounded");
  CHECK(std::isnan(value.upper_objective));
  CHECK(value.lower_objective == -std::numeric_limits<double>::infinity());

  CHECK(value_function(problem, std::vector<double>(4, 0.1), {}, {}).converged);
}

/// g = (1/2) ||y||^2, until told to misbehave.
class Misbehaving final : public adbo::WorkerObjective {
 public:
  enum class Kind { kNotANumber, kThrows };
  explicit Misbehaving(Kind kind) : kind_(kind) {}
  double upper(std::span<const double>, std::span<const double>, std::span<double>,
               std::span<double>) override {
    return 0;
  }
  double lower(std::span<const double>, std::span<const double> y, std::span<double> grad_y) override {
    if (kind_ == Kind::kThrows) throw std::runtime_error("no data");
    grad_y[0] = y[0];
    return std::numeric_limits<double>::quiet_NaN();
  }

 private:
  Kind kind_;
};

TEST_CASE("value function: numbers that are none, and exceptions") {
  adbo::Problem not_a_number(1, 1);
  not_a_number.add_worker(std::make_unique<Misbehaving>(Misbehaving::Kind::kNotANumber));
  const ValueFunction value = value_function(not_a_number, std::vector<double>{0.0}, {}, {});
  CHECK_FALSE(value.converged);
  CHECK(value.reason == "not finite");

  for (const std::int64_t threads : {1, 2}) {
    adbo::Problem throws(1, 1);
    throws.add_worker(std::make_unique<Misbehaving>(Misbehaving::Kind::kThrows));
    throws.add_worker(std::make_unique<Misbehaving>(Misbehaving::Kind::kThrows));
    CHECK_THROWS_WITH_AS((void)value_function(throws, std::vector<double>{0.0}, {}, {.threads = threads}),
                         "no data", std::runtime_error);
  }
}

TEST_CASE("value function refuses sizes that do not fit") {
  adbo::QuadraticInstance instance = adbo::make_quadratic({});
  CHECK_THROWS_WITH_AS((void)value_function(instance.problem, std::vector<double>(3), {}, {}),
                       "value_function: the upper variable has 3 coordinates, the problem 4",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(
      (void)value_function(instance.problem, std::vector<double>(4), std::vector<double>(5), {}),
      "value_function: the lower start has 5 coordinates, the problem 6", std::invalid_argument);
  adbo::Problem empty(1, 1);
  CHECK_THROWS_AS((void)value_function(empty, std::vector<double>(1), {}, {}), std::invalid_argument);
}

}  // namespace
