#include "adbo/problems/regularization_tuning.h"

#include <doctest/doctest.h>

#include <stdexcept>

#include "test_rows.h"

namespace {

using adbo::Parametrization;
using adbo::Problem;
using adbo::ShardWeights;
using adbo::TuningModel;
using adbo::TuningSettings;
using adbo::TuningShard;
using adbo::test::random_point;
using adbo::test::random_rows;
using adbo::test::slice;

constexpr std::size_t kFeatures = 6;

std::vector<TuningShard> uneven_shards(int classes) {
  const adbo::LabelledRows train = random_rows(40, kFeatures, classes, 1);
  const adbo::LabelledRows validation = random_rows(30, kFeatures, classes, 2);
  return {{slice(train, 0, 33), slice(validation, 0, 2)}, {slice(train, 33, 7), slice(validation, 2, 28)}};
}

std::vector<TuningShard> pooled_shard(int classes) {
  return {{random_rows(40, kFeatures, classes, 1), random_rows(30, kFeatures, classes, 2)}};
}

constexpr Parametrization kParametrizations[] = {Parametrization::kLinear, Parametrization::kExp,
                                                 Parametrization::kSoftplus};

/// logistic; softmax with shared coefficients; softmax with a coefficient per feature and class.
const TuningSettings kModels[] = {
    {.model = TuningModel::kLogistic},
    {.model = TuningModel::kSoftmax, .classes = 3},
    {.model = TuningModel::kSoftmax, .classes = 3, .per_class = true},
};

TEST_CASE("tuning: every product against central differences") {
  for (TuningSettings settings : kModels) {
    settings.penalty_factor = 0.7;
    for (const Parametrization parametrization : kParametrizations) {
      settings.parametrization = parametrization;
      CAPTURE(adbo::to_string(parametrization));
      CAPTURE(settings.classes);
      CAPTURE(settings.per_class);
      const Problem problem = adbo::make_regularization_tuning(uneven_shards(settings.classes), settings);
      const std::size_t n = problem.upper_dim(), m = problem.lower_dim();
      REQUIRE(m == (settings.model == TuningModel::kSoftmax ? 3 * kFeatures : kFeatures));
      REQUIRE(n == (settings.per_class ? m : kFeatures));
      for (std::size_t i = 0; i < problem.num_workers(); ++i) {
        CHECK(problem.support(i).begin == 0);
        CHECK(problem.support(i).size == n);
        CHECK_FALSE(problem.worker(i).upper_depends_on_x());
        ADBO_CHECK_PRODUCTS(adbo::test::product_errors(problem.worker(i), random_point(n, 3 + i),
                                                       random_point(m, 5 + i), random_point(m, 7 + i)));
        const auto term = problem.common_term()->clone();
        CHECK(adbo::check_common_term(*term, problem.worker(i), random_point(n, 3 + i),
                                      random_point(m, 5 + i), 5, 9)
                  .worst() < 1e-6);
      }
    }
  }
}

TEST_CASE("tuning: the penalty is penalty_factor sum r(psi_j) w_j^2, in every worker whatever its rows") {
  const double psi = 0.3, w = 2, factor = 0.25;
  const double expected_r[] = {psi, std::exp(psi), std::log(1 + std::exp(psi))};
  for (const TuningSettings& model : kModels) {
    for (std::size_t p = 0; p < 3; ++p) {
      TuningSettings settings = model;
      settings.parametrization = kParametrizations[p];
      settings.penalty_factor = factor;
      TuningSettings without = settings;
      without.penalty_factor = 0;
      const std::vector<TuningShard> shards = uneven_shards(settings.classes);
      const Problem problem = adbo::make_regularization_tuning(shards, settings);
      const Problem bare = adbo::make_regularization_tuning(shards, without);
      const std::size_t n = problem.upper_dim(), m = problem.lower_dim();
      std::vector<double> x(n, 0.0), y(m, 0.0), gradient(m);
      // Feature 1 of the last class: its coefficient is the shared one, or the class's own.
      const std::size_t variable = m - kFeatures + 1;
      y[variable] = w;
      x[variable % n] = psi;
      for (std::size_t i = 0; i < 2; ++i) {
        const double penalty = problem.worker(i).lower(x, y, gradient) - bare.worker(i).lower(x, y, gradient);
        CHECK(penalty == doctest::Approx(factor * expected_r[p] * w * w).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("tuning: with weights by rows an uneven split is the pooled problem") {
  for (const TuningSettings& settings : kModels) {
    const Problem parts = adbo::make_regularization_tuning(uneven_shards(settings.classes), settings);
    const Problem pooled = adbo::make_regularization_tuning(pooled_shard(settings.classes), settings);
    const std::size_t m = parts.lower_dim();
    const std::vector<double> x = random_point(parts.upper_dim(), 3), y = random_point(m, 4);
    std::vector<double> grad(m), first(m), second(m);
    const auto mean_of = [&](auto&& call) {
      const double a = call(parts.worker(0), first), b = call(parts.worker(1), second);
      for (std::size_t k = 0; k < m; ++k) first[k] = 0.5 * (first[k] + second[k]);
      return 0.5 * (a + b);
    };
    const auto lower = [&](auto& worker, std::span<double> out) { return worker.lower(x, y, out); };
    const auto upper = [&](auto& worker, std::span<double> out) { return worker.upper(x, y, {}, out); };
    CHECK(mean_of(lower) == doctest::Approx(lower(pooled.worker(0), grad)).epsilon(1e-12));
    CHECK(adbo::test::relative_error(first, grad) < 1e-12);
    CHECK(mean_of(upper) == doctest::Approx(upper(pooled.worker(0), grad)).epsilon(1e-12));
    CHECK(adbo::test::relative_error(first, grad) < 1e-12);
  }
}

TEST_CASE("tuning: with equal weights every shard counts as if it were alone") {
  TuningSettings settings;
  settings.shard_weights = ShardWeights::kEqual;
  const std::vector<TuningShard> shards = uneven_shards(2);
  const Problem parts = adbo::make_regularization_tuning(shards, settings);
  const std::vector<double> x = random_point(kFeatures, 3), y = random_point(kFeatures, 4);
  std::vector<double> grad(kFeatures), grad_alone(kFeatures);
  for (std::size_t i = 0; i < 2; ++i) {
    const Problem alone = adbo::make_regularization_tuning({shards[i]}, settings);
    CHECK(parts.worker(i).lower(x, y, grad) == alone.worker(0).lower(x, y, grad_alone));
    CHECK(grad == grad_alone);
    CHECK(parts.worker(i).upper(x, y, {}, grad) == alone.worker(0).upper(x, y, {}, grad_alone));
    CHECK(grad == grad_alone);
  }
}

TEST_CASE("tuning: the two-class models agree with each other") {
  // Softmax with weights -w/2 and w/2 is logistic regression with w, label 1 being the positive one.
  const adbo::LabelledRows rows = random_rows(50, kFeatures, 2, 9);
  const std::vector<double> w = random_point(kFeatures, 10);
  std::vector<double> both(2 * kFeatures);
  for (std::size_t k = 0; k < kFeatures; ++k) {
    both[k] = -0.5 * w[k];
    both[kFeatures + k] = 0.5 * w[k];
  }
  const adbo::ModelScore logistic = adbo::score_tuning_model(w, rows, {.model = TuningModel::kLogistic});
  const adbo::ModelScore softmax = adbo::score_tuning_model(both, rows, {.model = TuningModel::kSoftmax});
  CHECK(logistic.accuracy == softmax.accuracy);
  CHECK(logistic.loss == doctest::Approx(softmax.loss).epsilon(1e-12));
}

TEST_CASE("tuning: a model's score, by hand") {
  adbo::kernels::DenseRows features(3, 1);
  features.mutable_row(0)[0] = 1;
  features.mutable_row(1)[0] = -1;
  features.mutable_row(2)[0] = 2;
  const adbo::LabelledRows rows{std::make_shared<const adbo::kernels::Rows>(std::move(features)), {1, 0, 0}};
  const adbo::ModelScore score = adbo::score_tuning_model(std::vector<double>{1.0}, rows, {});
  CHECK(score.accuracy == doctest::Approx(2.0 / 3));
  CHECK(score.loss ==
        doctest::Approx((2 * std::log(1 + std::exp(-1.0)) + std::log(1 + std::exp(2.0))) / 3).epsilon(1e-12));
}

TEST_CASE("tuning: coefficients far out stay finite") {
  for (const double psi : {-800.0, 600.0}) {
    const Problem problem =
        adbo::make_regularization_tuning(uneven_shards(2), {.parametrization = Parametrization::kSoftplus});
    const std::vector<double> x(kFeatures, psi), y = random_point(kFeatures, 2);
    std::vector<double> gradient(kFeatures), cross(kFeatures);
    CHECK(std::isfinite(problem.worker(0).lower(x, y, gradient)));
    problem.worker(0).lower_cross_product(x, y, y, cross);
    for (const double entry : cross) CHECK(std::isfinite(entry));
  }
}

TEST_CASE("tuning refuses settings that contradict each other") {
  CHECK_THROWS_WITH_AS((void)adbo::make_regularization_tuning(uneven_shards(3), {.classes = 3}),
                       "logistic regression has 2 classes, not 3", std::invalid_argument);
  CHECK_THROWS_WITH_AS((void)adbo::make_regularization_tuning(uneven_shards(2), {.per_class = true}),
                       "a coefficient per feature and class needs the softmax model", std::invalid_argument);
  CHECK_THROWS_WITH_AS((void)adbo::make_regularization_tuning({}, {}), "no shards", std::invalid_argument);
  CHECK_THROWS_AS(
      (void)adbo::score_tuning_model(random_point(kFeatures + 1, 1), random_rows(4, kFeatures, 2, 1), {}),
      std::invalid_argument);
}

}  // namespace
