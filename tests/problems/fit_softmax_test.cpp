#include <doctest/doctest.h>

#include <cmath>
#include <stdexcept>

#include "adbo/problems/hyper_cleaning.h"
#include "test_rows.h"

namespace {

using adbo::fit_softmax;
using adbo::LabelledRows;
using adbo::ModelFit;
using adbo::WeightedRows;
using adbo::test::random_point;
using adbo::test::random_rows;
using adbo::test::relative_error;
using adbo::test::slice;

constexpr int kClasses = 3;
constexpr std::size_t kFeatures = 5;

TEST_CASE("fit_softmax: the gradient at the model, by plain loops, is zero") {
  const LabelledRows first = random_rows(40, kFeatures, kClasses, 1),
                     second = random_rows(25, kFeatures, kClasses, 2);
  const double ridge = 0.02, scale_first = 0.01, scale_second = 0.03;
  std::vector<double> weights = random_point(40, 3);
  for (double& weight : weights) weight = 1 / (1 + std::exp(-weight));

  const ModelFit fit = fit_softmax({{&first, weights, scale_first}, {&second, {}, scale_second}}, kClasses,
                                   ridge, {}, {.gradient_tolerance = 1e-10});
  REQUIRE(fit.converged);
  CHECK(fit.gradient_norm <= 1e-10);
  CHECK(fit.evaluations > 0);
  CHECK(fit.seconds > 0);

  std::vector<double> factor(weights), gradient(kClasses * kFeatures), second_gradient(gradient.size());
  for (double& value : factor) value *= scale_first;
  adbo::test::plain_softmax(first, kClasses, fit.model, factor, gradient);
  adbo::test::plain_softmax(second, kClasses, fit.model, std::vector<double>(25, scale_second),
                            second_gradient);
  double square = 0;
  for (std::size_t k = 0; k < gradient.size(); ++k) {
    square += std::pow(gradient[k] + second_gradient[k] + 2 * ridge * fit.model[k], 2);
  }
  CHECK(std::sqrt(square) < 2e-10);  // the tolerance, and rounding
}

TEST_CASE("fit_softmax: parts are only a way to store rows, and weight 0 is absence") {
  const LabelledRows rows = random_rows(60, kFeatures, kClasses, 4);
  const LabelledRows parts[] = {slice(rows, 0, 1), slice(rows, 1, 40), slice(rows, 41, 19)};
  const adbo::ResolveOptions options{.gradient_tolerance = 1e-11};
  const double scale = 1.0 / 60;
  const ModelFit whole = fit_softmax({{&rows, {}, scale}}, kClasses, 0.01, {}, options);
  const ModelFit split = fit_softmax({{&parts[0], {}, scale}, {&parts[1], {}, scale}, {&parts[2], {}, scale}},
                                     kClasses, 0.01, {}, options);
  // Strong convexity 2 * 0.01: the models differ by at most 1e-11 / 0.02 from the minimizer.
  CHECK(relative_error(split.model, whole.model) < 1e-8);

  std::vector<double> mask(60, 1.0);
  std::fill(mask.begin() + 41, mask.end(), 0.0);
  const ModelFit masked = fit_softmax({{&rows, mask, scale}}, kClasses, 0.01, {}, options);
  const ModelFit without =
      fit_softmax({{&parts[0], {}, scale}, {&parts[1], {}, scale}}, kClasses, 0.01, {}, options);
  CHECK(relative_error(masked.model, without.model) < 1e-8);
  CHECK(relative_error(masked.model, whole.model) > 1e-3);  // the mask does something
}

TEST_CASE("fit_softmax: the same bits for any number of threads, and a warm start ends at the same place") {
  std::vector<LabelledRows> rows;
  std::vector<WeightedRows> parts;
  rows.reserve(6);
  for (std::uint64_t p = 0; p < 6; ++p) {
    rows.push_back(random_rows(30 + 11 * p, kFeatures, kClasses, 50 + p));
    parts.push_back({&rows.back(), {}, 0.002});
  }
  const adbo::ResolveOptions one{.gradient_tolerance = 1e-10, .threads = 1};
  const ModelFit serial = fit_softmax(parts, kClasses, 0.01, {}, one);
  for (const std::int64_t threads : {2, 5, 0}) {
    const ModelFit parallel =
        fit_softmax(parts, kClasses, 0.01, {}, {.gradient_tolerance = 1e-10, .threads = threads});
    CHECK(parallel.model == serial.model);
    CHECK(parallel.evaluations == serial.evaluations);
  }
  const ModelFit warm = fit_softmax(parts, kClasses, 0.01, random_point(kClasses * kFeatures, 6), one);
  CHECK(relative_error(warm.model, serial.model) < 1e-7);
  CHECK(fit_softmax(parts, kClasses, 0.01, serial.model, one).evaluations == 1);
}

TEST_CASE("fit_softmax: a limit that is too low is said") {
  const LabelledRows rows = random_rows(60, kFeatures, kClasses, 4);
  const ModelFit fit = fit_softmax({{&rows, {}, 1.0 / 60}}, kClasses, 1e-6, {},
                                   {.gradient_tolerance = 1e-12, .max_evaluations = 2});
  CHECK_FALSE(fit.converged);
  CHECK(fit.gradient_norm > 1e-12);
}

TEST_CASE("fit_softmax refuses parts that do not fit together") {
  const LabelledRows rows = random_rows(8, kFeatures, kClasses, 1);
  const LabelledRows wider = random_rows(8, kFeatures + 1, kClasses, 1);
  const std::vector<double> weights(7, 1.0);
  const auto refused = [](const std::vector<WeightedRows>& parts, std::span<const double> start,
                          const char* message) {
    CHECK_THROWS_WITH_AS((void)fit_softmax(parts, kClasses, 0.1, start, {}), message, std::invalid_argument);
  };
  refused({}, {}, "fit_softmax: no rows");
  refused({{nullptr, {}, 1}}, {}, "fit_softmax, part 0: no rows");
  refused({{&rows, {}, 1}, {&wider, {}, 1}}, {}, "fit_softmax, part 1: 6 features, elsewhere 5");
  refused({{&rows, weights, 1}}, {}, "fit_softmax, part 0: 8 rows and 7 weights");
  refused({{&rows, {}, 1}}, weights, "fit_softmax: the start has 7 coordinates, the model 15");
}

TEST_CASE("score_model: by plain loops, and the same bits for any number of threads") {
  // More than two chunks, the last one short.
  const LabelledRows rows = random_rows(2500, kFeatures, kClasses, 8);
  const std::vector<double> model = random_point(kClasses * kFeatures, 9);
  const adbo::ModelScore serial = adbo::score_model(model, rows, kClasses, 1);
  const std::vector<double> factor(rows.size(), 1.0 / 2500);
  CHECK(serial.loss ==
        doctest::Approx(adbo::test::plain_softmax(rows, kClasses, model, factor, {})).epsilon(1e-12));
  for (const std::int64_t threads : {2, 5}) {
    const adbo::ModelScore parallel = adbo::score_model(model, rows, kClasses, threads);
    CHECK(parallel.loss == serial.loss);
    CHECK(parallel.accuracy == serial.accuracy);
  }
  // The rule that made the labels is never wrong.
  CHECK(adbo::score_model(random_point(kClasses * kFeatures, 77), rows, kClasses).accuracy == 1.0);
  CHECK(serial.accuracy < 0.9);
  CHECK_THROWS_AS((void)adbo::score_model(random_point(14, 1), rows, kClasses), std::invalid_argument);
}

}  // namespace
