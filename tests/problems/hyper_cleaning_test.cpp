#include "adbo/problems/hyper_cleaning.h"

#include <doctest/doctest.h>

#include <numeric>
#include <stdexcept>

#include "test_rows.h"

namespace {

using adbo::CleaningSettings;
using adbo::CleaningShard;
using adbo::LabelledRows;
using adbo::Problem;
using adbo::ShardWeights;
using adbo::test::random_point;
using adbo::test::random_rows;
using adbo::test::slice;

constexpr int kClasses = 4;
constexpr std::size_t kFeatures = 7;
constexpr std::size_t kLowerDim = kClasses * kFeatures;

/// Three shards of very different sizes.
struct UnevenSplit {
  LabelledRows train = random_rows(45, kFeatures, kClasses, 1);
  LabelledRows validation = random_rows(31, kFeatures, kClasses, 2);
  std::vector<CleaningShard> shards{{slice(train, 0, 3), slice(validation, 0, 20)},
                                    {slice(train, 3, 33), slice(validation, 20, 1)},
                                    {slice(train, 36, 9), slice(validation, 21, 10)}};
};

struct Sum {
  double upper = 0, lower = 0;
  std::vector<double> upper_grad_y = std::vector<double>(kLowerDim), lower_grad_y = upper_grad_y,
                      hessian = upper_grad_y, cross;
};

/// The means over the workers; the cross products one after the other where the supports say.
Sum mean_over_workers(const Problem& problem, const std::vector<double>& x, const std::vector<double>& y,
                      const std::vector<double>& u) {
  Sum sum;
  sum.cross.resize(problem.upper_dim());
  const double factor = 1.0 / static_cast<double>(problem.num_workers());
  std::vector<double> grad(kLowerDim), hessian(kLowerDim);
  for (std::size_t i = 0; i < problem.num_workers(); ++i) {
    const adbo::UpperSupport support = problem.support(i);
    const std::span<const double> part = std::span(x).subspan(support.begin, support.size);
    std::vector<double> cross(support.size);
    sum.upper += factor * problem.worker(i).upper(part, y, {}, grad);
    for (std::size_t k = 0; k < kLowerDim; ++k) sum.upper_grad_y[k] += factor * grad[k];
    sum.lower += factor * problem.worker(i).lower_fused(part, y, u, grad, hessian, cross);
    for (std::size_t k = 0; k < kLowerDim; ++k) {
      sum.lower_grad_y[k] += factor * grad[k];
      sum.hessian[k] += factor * hessian[k];
    }
    for (std::size_t j = 0; j < support.size; ++j) sum.cross[support.begin + j] += factor * cross[j];
  }
  return sum;
}

TEST_CASE("hyper-cleaning: every product against central differences") {
  const UnevenSplit split;
  for (const ShardWeights weights : {ShardWeights::kEqual, ShardWeights::kRows}) {
    const Problem problem = adbo::make_hyper_cleaning(
        split.shards, {.classes = kClasses, .ridge = 0.05, .shard_weights = weights});
    REQUIRE(problem.upper_dim() == 45);
    REQUIRE(problem.lower_dim() == kLowerDim);
    for (std::size_t i = 0; i < problem.num_workers(); ++i) {
      CAPTURE(i);
      const std::vector<double> x = random_point(problem.support(i).size, 10 + i, 2);
      ADBO_CHECK_PRODUCTS(adbo::test::product_errors(problem.worker(i), x, random_point(kLowerDim, 20 + i),
                                                     random_point(kLowerDim, 30 + i)));
    }
  }
}

TEST_CASE("hyper-cleaning: the lower objective is the formula, by plain loops") {
  const UnevenSplit split;
  const Problem problem = adbo::make_hyper_cleaning(
      split.shards, {.classes = kClasses, .ridge = 0.05, .shard_weights = ShardWeights::kEqual});
  const std::vector<double> x = random_point(33, 4), y = random_point(kLowerDim, 5);
  std::vector<double> factor(x.size()), gradient(kLowerDim), expected(kLowerDim);
  for (std::size_t j = 0; j < x.size(); ++j) factor[j] = 1 / (1 + std::exp(-x[j])) / 33;
  double value = adbo::test::plain_softmax(split.shards[1].train, kClasses, y, factor, expected);
  for (std::size_t k = 0; k < kLowerDim; ++k) {
    value += 0.05 * y[k] * y[k];
    expected[k] += 2 * 0.05 * y[k];
  }
  // Sums of some 250 rounded terms in another order: 1e-13 would do.
  CHECK(problem.worker(1).lower(x, y, gradient) == doctest::Approx(value).epsilon(1e-12));
  CHECK(adbo::test::relative_error(gradient, expected) < 1e-12);
}

TEST_CASE("hyper-cleaning: with weights by rows an uneven split is the pooled problem") {
  const UnevenSplit split;
  const CleaningSettings settings{.classes = kClasses, .ridge = 0.01, .shard_weights = ShardWeights::kRows};
  const Problem parts = adbo::make_hyper_cleaning(split.shards, settings);
  const Problem pooled = adbo::make_hyper_cleaning({{split.train, split.validation}}, settings);
  const std::vector<double> x = random_point(45, 6), y = random_point(kLowerDim, 7),
                            u = random_point(kLowerDim, 8);
  const Sum a = mean_over_workers(parts, x, y, u), b = mean_over_workers(pooled, x, y, u);
  CHECK(a.upper == doctest::Approx(b.upper).epsilon(1e-12));
  CHECK(a.lower == doctest::Approx(b.lower).epsilon(1e-12));
  CHECK(adbo::test::relative_error(a.upper_grad_y, b.upper_grad_y) < 1e-12);
  CHECK(adbo::test::relative_error(a.lower_grad_y, b.lower_grad_y) < 1e-12);
  CHECK(adbo::test::relative_error(a.hessian, b.hessian) < 1e-12);
  CHECK(adbo::test::relative_error(a.cross, b.cross) < 1e-12);
}

TEST_CASE("hyper-cleaning: with equal weights every shard counts as if it were alone") {
  const UnevenSplit split;
  const CleaningSettings settings{.classes = kClasses, .ridge = 0.01, .shard_weights = ShardWeights::kEqual};
  const Problem parts = adbo::make_hyper_cleaning(split.shards, settings);
  const std::vector<double> y = random_point(kLowerDim, 9);
  std::vector<double> grad(kLowerDim), grad_alone(kLowerDim);
  for (std::size_t i = 0; i < 3; ++i) {
    const Problem alone = adbo::make_hyper_cleaning({split.shards[i]}, settings);
    const std::vector<double> x = random_point(alone.upper_dim(), 40 + i);
    CHECK(parts.worker(i).lower(x, y, grad) == alone.worker(0).lower(x, y, grad_alone));
    CHECK(grad == grad_alone);
    CHECK(parts.worker(i).upper(x, y, {}, grad) == alone.worker(0).upper(x, y, {}, grad_alone));
    CHECK(grad == grad_alone);
  }
}

TEST_CASE("hyper-cleaning: supports are the shards' slices, and no upper objective depends on x") {
  const UnevenSplit split;
  const Problem problem = adbo::make_hyper_cleaning(split.shards, {.classes = kClasses});
  const std::size_t begins[] = {0, 3, 36}, sizes[] = {3, 33, 9};
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(problem.support(i).begin == begins[i]);
    CHECK(problem.support(i).size == sizes[i]);
    CHECK_FALSE(problem.worker(i).upper_depends_on_x());
  }
  CHECK(problem.validate().ok());
}

TEST_CASE("hyper-cleaning: saturated weights stay finite and exact") {
  const UnevenSplit split;
  const Problem problem = adbo::make_hyper_cleaning(split.shards, {.classes = kClasses, .ridge = 0});
  const std::vector<double> y = random_point(kLowerDim, 11), u = random_point(kLowerDim, 12);
  std::vector<double> grad(kLowerDim), cross(3), cross_other_side(3);
  // sigma'(40) = sigma'(-40) = exp(-40) to double precision: neither tail may be rounded to 0.
  problem.worker(0).lower_cross_product(std::vector<double>(3, 40.0), y, u, cross);
  problem.worker(0).lower_cross_product(std::vector<double>(3, -40.0), y, u, cross_other_side);
  CHECK(cross == cross_other_side);
  CHECK(cross[0] != 0.0);
  CHECK(problem.worker(0).lower(std::vector<double>(3, -1e6), y, grad) == 0.0);
  CHECK(std::isfinite(problem.worker(0).lower(std::vector<double>(3, 1e6), y, grad)));
}

TEST_CASE("hyper-cleaning refuses shards that do not fit together, naming them") {
  const UnevenSplit split;
  const CleaningSettings settings{.classes = kClasses};
  std::vector<CleaningShard> shards = split.shards;
  CHECK_THROWS_WITH_AS((void)adbo::make_hyper_cleaning({}, settings), "no shards", std::invalid_argument);
  CHECK_THROWS_WITH_AS((void)adbo::make_hyper_cleaning(shards, {.classes = 1}),
                       "classes: 1, expected at least 2", std::invalid_argument);

  shards[1].train.labels[5] = kClasses;
  CHECK_THROWS_WITH_AS((void)adbo::make_hyper_cleaning(shards, settings),
                       "shard 1, training: row 5 has label 4, expected 0 to 3", std::invalid_argument);
  shards = split.shards;
  shards[2].validation.labels.pop_back();
  CHECK_THROWS_WITH_AS((void)adbo::make_hyper_cleaning(shards, settings),
                       "shard 2, validation: 10 rows and 9 labels", std::invalid_argument);
  shards = split.shards;
  shards[2].train = random_rows(4, kFeatures + 1, kClasses, 1);
  CHECK_THROWS_WITH_AS((void)adbo::make_hyper_cleaning(shards, settings),
                       "shard 2, training: 8 features, elsewhere 7", std::invalid_argument);
  shards = split.shards;
  shards[0].validation = slice(split.validation, 0, 0);
  CHECK_THROWS_WITH_AS((void)adbo::make_hyper_cleaning(shards, settings), "shard 0: no validation rows",
                       std::invalid_argument);
  shards[0].validation.features = nullptr;
  CHECK_THROWS_WITH_AS((void)adbo::make_hyper_cleaning(shards, settings), "shard 0, validation: no features",
                       std::invalid_argument);
}

}  // namespace
