// Curvature blocks: the exact Hessian of logistic tuning; a bound of the softmax Hessian, one block for all
// classes.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "adbo/problems/hyper_cleaning.h"
#include "adbo/problems/regularization_tuning.h"
#include "test_rows.h"

namespace {

using adbo::test::random_point;
using adbo::test::random_rows;

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

/// The block-diagonal matrix of copies of `block` times u.
std::vector<double> apply_copies(const std::vector<double>& block, std::size_t b,
                                 const std::vector<double>& u) {
  std::vector<double> product(u.size(), 0.0);
  for (std::size_t piece = 0; piece < u.size(); piece += b) {
    for (std::size_t i = 0; i < b; ++i) {
      for (std::size_t j = 0; j < b; ++j) product[piece + i] += block[i * b + j] * u[piece + j];
    }
  }
  return product;
}

TEST_CASE("curvature: of logistic tuning it is the Hessian itself") {
  constexpr std::size_t kCols = 9;
  const adbo::TuningShard shard{random_rows(120, kCols, 2, 1), random_rows(50, kCols, 2, 2)};
  adbo::Problem problem = adbo::make_regularization_tuning({shard}, {});
  adbo::WorkerObjective& worker = problem.worker(0);
  REQUIRE(worker.lower_curvature_size() == kCols);
  const auto x = random_point(kCols, 3), y = random_point(kCols, 4), u = random_point(kCols, 5);
  std::vector<double> block(kCols * kCols), expected(kCols);
  worker.lower_curvature(x, y, block);
  worker.lower_hessian_product(x, y, u, expected);
  const std::vector<double> product = apply_copies(block, kCols, u);
  for (std::size_t k = 0; k < kCols; ++k) CHECK(product[k] == doctest::Approx(expected[k]).epsilon(1e-12));
}

TEST_CASE("curvature: of a softmax regression its copies bound the Hessian from above") {
  constexpr std::size_t kCols = 12;
  constexpr int kClasses = 4;
  const adbo::CleaningShard cleaning{random_rows(11, kCols, kClasses, 1),
                                     random_rows(30, kCols, kClasses, 2)};
  const adbo::TuningShard tuning{random_rows(11, kCols, kClasses, 1), random_rows(30, kCols, kClasses, 2)};
  adbo::Problem problems[] = {
      adbo::make_hyper_cleaning({cleaning}, {.classes = kClasses}),
      adbo::make_regularization_tuning({tuning}, {.model = adbo::TuningModel::kSoftmax, .classes = kClasses}),
      adbo::make_regularization_tuning(
          {tuning}, {.model = adbo::TuningModel::kSoftmax, .classes = kClasses, .per_class = true})};
  for (adbo::Problem& problem : problems) {
    adbo::WorkerObjective& worker = problem.worker(0);
    REQUIRE(worker.lower_curvature_size() == kCols);
    const std::size_t m = problem.lower_dim();
    std::vector<double> block(kCols * kCols), product(m);
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      const auto x = random_point(problem.upper_dim(), 3 * seed), y = random_point(m, 3 * seed + 1),
                 u = random_point(m, 3 * seed + 2);
      worker.lower_curvature(x, y, block);
      worker.lower_hessian_product(x, y, u, product);
      const double bound = dot(u, apply_copies(block, kCols, u));
      CHECK(dot(u, product) <= bound * (1 + 1e-12));
      CHECK(dot(u, product) > 0);
    }
  }
}

TEST_CASE("curvature: the diagonal is that of the block where the block is made of all rows") {
  constexpr std::size_t kCols = 12;
  constexpr int kClasses = 4;
  const adbo::TuningShard two{random_rows(90, kCols, 2, 1), random_rows(30, kCols, 2, 2)};
  const adbo::TuningShard four{random_rows(90, kCols, kClasses, 1), random_rows(30, kCols, kClasses, 2)};
  const adbo::CleaningShard cleaning{four.train, four.validation};
  adbo::Problem problems[] = {
      adbo::make_regularization_tuning({two}, {}),
      adbo::make_hyper_cleaning({cleaning}, {.classes = kClasses}),
      adbo::make_regularization_tuning(
          {four}, {.model = adbo::TuningModel::kSoftmax, .classes = kClasses, .per_class = true})};
  for (adbo::Problem& problem : problems) {
    adbo::WorkerObjective& worker = problem.worker(0);
    REQUIRE(worker.lower_curvature_diagonal_size() == kCols);
    const auto x = random_point(problem.upper_dim(), 3), y = random_point(problem.lower_dim(), 4);
    std::vector<double> block(kCols * kCols), diagonal(kCols);
    worker.lower_curvature(x, y, block);
    worker.lower_curvature_diagonal(x, y, diagonal);
    for (std::size_t k = 0; k < kCols; ++k) {
      CHECK(diagonal[k] == doctest::Approx(block[k * (kCols + 1)]).epsilon(1e-12));
    }
  }
}

TEST_CASE("curvature: made of a part of many rows it stays close to that of all") {
  constexpr std::size_t kCols = 5;
  const adbo::CleaningShard shard{random_rows(4000, kCols, 3, 1), random_rows(20, kCols, 3, 2)};
  adbo::Problem problem = adbo::make_hyper_cleaning({shard}, {.classes = 3, .ridge = 0});
  std::vector<double> block(kCols * kCols);
  const std::vector<double> x(4000, 0.0), y(3 * kCols, 0.0);
  problem.worker(0).lower_curvature(x, y, block);
  // At y = 0: weight 1/2, kappa = 2 * 1/3 * 2/3, unit normal features: (2/9) I. 500 rows give it to about 6 %
  // (the deviation of a mean of 500 squares of unit normals).
  for (std::size_t k = 0; k < kCols; ++k)
    CHECK(block[k * (kCols + 1)] == doctest::Approx(2.0 / 9).epsilon(0.3));
}

}  // namespace
