#include "adbo/problems/quadratic.h"

#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "test_rows.h"

namespace {

using adbo::Problem;
using adbo::QuadraticInstance;
using adbo::QuadraticSettings;
using adbo::test::random_point;

/// A problem whose answers are computed from its objectives alone, without the formulas under test.
class Independent {
 public:
  explicit Independent(const Problem& problem) : problem_(problem) {}

  /// y*(x) by a long gradient descent with step 1: every H_i has eigenvalues in [1/condition, 1], so the
  /// error shrinks by 1 - 1/condition a step at least, to 1e-17 of its start in 4,000 steps at condition 100.
  std::vector<double> lower_solution(std::span<const double> x) const {
    std::vector<double> y(problem_.lower_dim(), 0.0), sum(y.size()), part(y.size());
    for (int step = 0; step < 4000; ++step) {
      std::fill(sum.begin(), sum.end(), 0.0);
      for (std::size_t i = 0; i < problem_.num_workers(); ++i) {
        problem_.worker(i).lower(slice_of(x, i), y, part);
        for (std::size_t k = 0; k < y.size(); ++k) sum[k] += part[k];
      }
      for (std::size_t k = 0; k < y.size(); ++k) y[k] -= sum[k] / static_cast<double>(problem_.num_workers());
    }
    return y;
  }

  /// (1/N) sum_i G_i(x, y).
  double upper(std::span<const double> x, std::span<const double> y) const {
    double sum = 0;
    std::vector<double> grad_y(y.size());
    for (std::size_t i = 0; i < problem_.num_workers(); ++i) {
      adbo::WorkerObjective& worker = problem_.worker(i);
      std::vector<double> grad_x(worker.upper_depends_on_x() ? problem_.support(i).size : 0);
      sum += worker.upper(slice_of(x, i), y, grad_x, grad_y);
    }
    return sum / static_cast<double>(problem_.num_workers());
  }

 private:
  std::span<const double> slice_of(std::span<const double> x, std::size_t i) const {
    return x.subspan(problem_.support(i).begin, problem_.support(i).size);
  }
  const Problem& problem_;
};

const QuadraticSettings kVariants[] = {
    {},
    {.upper_dim = 1, .lower_dim = 1, .num_workers = 1},
    {.upper_dim = 5, .lower_dim = 8, .num_workers = 3, .condition = 100, .upper_uses_x = false, .seed = 2},
    {.upper_dim = 9, .lower_dim = 4, .num_workers = 5, .heterogeneity = 0.3, .support_size = 3, .seed = 3},
    {.upper_dim = 6, .lower_dim = 7, .num_workers = 3, .upper_uses_x = false, .support_size = 2, .seed = 4},
    {.upper_dim = 3, .lower_dim = 3, .num_workers = 2, .condition = 1, .heterogeneity = 0, .seed = 5},
};

TEST_CASE("quadratic: every product against central differences") {
  for (const QuadraticSettings& settings : kVariants) {
    const QuadraticInstance instance = adbo::make_quadratic(settings);
    for (std::size_t i = 0; i < settings.num_workers; ++i) {
      adbo::WorkerObjective& worker = instance.problem.worker(i);
      CHECK(worker.upper_depends_on_x() == settings.upper_uses_x);
      ADBO_CHECK_PRODUCTS(adbo::test::product_errors(
          worker, random_point(instance.problem.support(i).size, 3 + i),
          random_point(settings.lower_dim, 5 + i), random_point(settings.lower_dim, 7 + i)));
    }
  }
}

TEST_CASE("quadratic: the solution and its value, from the objectives alone") {
  for (const QuadraticSettings& settings : kVariants) {
    const QuadraticInstance instance = adbo::make_quadratic(settings);
    const Independent independent(instance.problem);
    const std::vector<double> y = independent.lower_solution(instance.upper_solution);
    // Limited by the rounding of the descent's last steps, some 1e-14 times the condition.
    CHECK(adbo::test::relative_error(instance.lower_solution, y) < 1e-11);
    CHECK(instance.value == doctest::Approx(independent.upper(instance.upper_solution, y)).epsilon(1e-11));

    // F is quadratic and minimal here: it rises alike on both sides, in every direction.
    for (std::uint64_t direction = 0; direction < 3; ++direction) {
      std::vector<double> ahead = instance.upper_solution, behind = instance.upper_solution;
      const std::vector<double> d = random_point(settings.upper_dim, 100 + direction);
      for (std::size_t k = 0; k < d.size(); ++k) {
        ahead[k] += d[k];
        behind[k] -= d[k];
      }
      const double rise_ahead = independent.upper(ahead, independent.lower_solution(ahead)) - instance.value;
      const double rise_behind =
          independent.upper(behind, independent.lower_solution(behind)) - instance.value;
      CHECK(rise_ahead > 0);
      CHECK(rise_ahead == doctest::Approx(rise_behind).epsilon(1e-7));
    }
  }
}

TEST_CASE("quadratic: the hypergradient against differences of the value function") {
  for (const QuadraticSettings& settings : kVariants) {
    const QuadraticInstance instance = adbo::make_quadratic(settings);
    const Independent independent(instance.problem);
    const std::vector<double> x = random_point(settings.upper_dim, 11);
    const std::vector<double> expected = adbo::test::difference_gradient(
        [&](std::span<const double> point) {
          return independent.upper(point, independent.lower_solution(point));
        },
        x);
    // Rounding of values of size 100 over a step of 1e-5 leaves 1e-8.
    CHECK(adbo::test::relative_error(adbo::quadratic_hypergradient(settings, x), expected) < 1e-6);
  }
}

TEST_CASE("quadratic: a long hypergradient descent ends at the solution") {
  const QuadraticSettings well_conditioned[] = {
      {.condition = 2},
      {.upper_dim = 3, .lower_dim = 4, .num_workers = 3, .condition = 2, .support_size = 2}};
  for (const QuadraticSettings& settings : well_conditioned) {
    const QuadraticInstance instance = adbo::make_quadratic(settings);
    std::vector<double> x(settings.upper_dim, 0.0);
    // A step that halves itself until the gradient shrinks along it needs no bound on the curvature. Descent
    // takes as many steps as F's condition times a few.
    double step = 1;
    std::vector<double> gradient = adbo::quadratic_hypergradient(settings, x);
    const auto norm = [](const std::vector<double>& v) {
      double sum = 0;
      for (const double entry : v) sum += entry * entry;
      return std::sqrt(sum);
    };
    for (int k = 0; k < 20000 && norm(gradient) > 1e-11; ++k) {
      std::vector<double> next = x;
      for (std::size_t j = 0; j < x.size(); ++j) next[j] -= step * gradient[j];
      std::vector<double> next_gradient = adbo::quadratic_hypergradient(settings, next);
      if (norm(next_gradient) < norm(gradient)) {
        x = std::move(next);
        gradient = std::move(next_gradient);
      } else {
        step /= 2;
      }
    }
    CHECK(norm(gradient) <= 1e-11);
    CHECK(adbo::test::relative_error(x, instance.upper_solution) < 1e-8);
  }
}

TEST_CASE("quadratic: the lower Hessians have the condition asked for") {
  const QuadraticSettings settings{.lower_dim = 9, .num_workers = 3, .condition = 50};
  const QuadraticInstance instance = adbo::make_quadratic(settings);
  for (std::size_t i = 0; i < settings.num_workers; ++i) {
    Eigen::MatrixXd hessian(9, 9);
    const std::vector<double> x(settings.upper_dim, 0.0), y(9, 0.0);
    for (Eigen::Index k = 0; k < 9; ++k) {
      std::vector<double> unit(9, 0.0), column(9);
      unit[static_cast<std::size_t>(k)] = 1;
      instance.problem.worker(i).lower_hessian_product(x, y, unit, column);
      hessian.col(k) = Eigen::Map<const Eigen::VectorXd>(column.data(), 9);
    }
    CHECK((hessian - hessian.transpose()).norm() == 0.0);
    const Eigen::VectorXd eigenvalues = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(hessian).eigenvalues();
    CHECK(eigenvalues.minCoeff() == doctest::Approx(1.0 / 50).epsilon(1e-10));
    CHECK(eigenvalues.maxCoeff() == doctest::Approx(1.0).epsilon(1e-10));
  }
}

TEST_CASE("quadratic: supports are spread over all coordinates") {
  for (const std::size_t size : {std::size_t{3}, std::size_t{4}, std::size_t{7}, std::size_t{10}}) {
    const QuadraticInstance instance =
        adbo::make_quadratic({.upper_dim = 10, .lower_dim = 12, .num_workers = 4, .support_size = size});
    std::vector<int> covered(10, 0);
    for (std::size_t i = 0; i < 4; ++i) {
      const adbo::UpperSupport support = instance.problem.support(i);
      CHECK(support.size == size);
      REQUIRE(support.begin + support.size <= 10);
      for (std::size_t j = 0; j < size; ++j) ++covered[support.begin + j];
    }
    CHECK(*std::min_element(covered.begin(), covered.end()) >= 1);
    CHECK(instance.problem.support(0).begin == 0);
    CHECK(instance.problem.support(3).begin == 10 - size);
    CHECK(instance.problem.validate().ok());
  }
}

TEST_CASE("quadratic: seeds and heterogeneity") {
  const auto gradient_of = [](const QuadraticSettings& settings, std::size_t worker) {
    const QuadraticInstance instance = adbo::make_quadratic(settings);
    std::vector<double> gradient(settings.lower_dim);
    instance.problem.worker(worker).lower(random_point(settings.upper_dim, 1),
                                          random_point(settings.lower_dim, 2), gradient);
    return gradient;
  };
  CHECK(gradient_of({}, 2) == gradient_of({}, 2));
  CHECK(gradient_of({.seed = 1}, 2) != gradient_of({.seed = 2}, 2));
  CHECK(gradient_of({.heterogeneity = 0}, 0) == gradient_of({.heterogeneity = 0}, 3));
  CHECK(gradient_of({.heterogeneity = 1}, 0) != gradient_of({.heterogeneity = 1}, 3));
  // A worker's data do not depend on how many others there are.
  CHECK(gradient_of({.num_workers = 4}, 1) == gradient_of({.num_workers = 9}, 1));
}

TEST_CASE("quadratic refuses settings without a unique solution") {
  const auto refused = [](const QuadraticSettings& settings, const char* message) {
    CHECK_THROWS_WITH_AS((void)adbo::make_quadratic(settings), message, std::invalid_argument);
  };
  refused({.upper_dim = 0}, "quadratic problem: upper_dim, lower_dim and num_workers are at least 1");
  refused({.condition = 0.5}, "quadratic problem: condition is 0.500000, expected at least 1");
  refused({.condition = std::nan("")}, "quadratic problem: condition is nan, expected at least 1");
  refused({.heterogeneity = 1.5}, "quadratic problem: heterogeneity is 1.500000, expected 0 to 1");
  refused({.upper_dim = 4, .support_size = 5}, "quadratic problem: support_size is 5, upper_dim 4");
  refused({.upper_dim = 10, .num_workers = 3, .support_size = 3},
          "quadratic problem: 3 supports of 3 cannot cover 10 coordinates");
  refused({.upper_dim = 7, .lower_dim = 6, .upper_uses_x = false},
          "quadratic problem: without a term in x the solution is unique only for upper_dim (7) at most "
          "lower_dim (6)");
  CHECK_THROWS_AS((void)adbo::quadratic_hypergradient({}, {1.0}), std::invalid_argument);
}

}  // namespace
