#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "adbo/measures.h"
#include "adbo/problems/hyper_cleaning.h"
#include "test_rows.h"

namespace {

using adbo::CleaningMeasures;
using adbo::CleaningMeasuresInput;
using adbo::CleaningSettings;
using adbo::CleaningShard;
using adbo::LabelledRows;
using adbo::ResolveOptions;
using adbo::RowVerdicts;
using adbo::test::random_point;
using adbo::test::random_rows;
using adbo::test::relative_error;

TEST_CASE("verdicts: a table done by hand") {
  const std::vector<double> probability = {0.8,   0.1, 0.1,    // fine
                                           0.2,   0.7, 0.1,    // class 1 is 3.5 times as probable
                                           0.6,   0.3, 0.1,    // class 0 is twice as probable
                                           0.375, 0.5, 0.125,  // class 0 is three times as probable, exactly
                                           0.25,  0.5, 0.25,   // twice as probable
                                           0.5,   0.5, 0.0};   // impossible
  const std::vector<std::int32_t> labels = {0, 0, 1, 2, 2, 2};
  const RowVerdicts verdicts = adbo::judge_probabilities(probability, labels, 3);
  CHECK(verdicts.given_probability == std::vector<double>{0.8, 0.2, 0.3, 0.125, 0.25, 0.0});
  CHECK(verdicts.predicted_label == std::vector<std::int32_t>{0, 1, 0, 1, 1, 0});  // the smallest of equals
  CHECK(verdicts.is_suspect == std::vector<std::uint8_t>{0, 1, 0, 1, 0, 1});
  CHECK_THROWS_AS((void)adbo::judge_probabilities(probability, std::vector<std::int32_t>{0}, 3),
                  std::invalid_argument);
}

TEST_CASE("judge_rows: the same verdicts for any number of threads, from the model's probabilities") {
  const LabelledRows rows = random_rows(2500, 6, 4, 1);
  const std::vector<double> model = random_point(24, 77, 0.7);
  const RowVerdicts serial = adbo::judge_rows(model, rows, 4, 1);
  for (const std::int64_t threads : {2, 5}) {
    const RowVerdicts parallel = adbo::judge_rows(model, rows, 4, threads);
    CHECK(parallel.given_probability == serial.given_probability);
    CHECK(parallel.predicted_label == serial.predicted_label);
    CHECK(parallel.is_suspect == serial.is_suspect);
  }
  for (const std::size_t j : {std::size_t{0}, std::size_t{1024}, std::size_t{2499}}) {
    const double loss =
        adbo::test::plain_softmax(adbo::test::slice(rows, j, 1), 4, model, std::vector<double>{1.0}, {});
    CHECK(serial.given_probability[j] == doctest::Approx(std::exp(-loss)).epsilon(1e-12));
  }
}

/// Three uneven shards with a known fifth of the training labels changed.
struct CleaningFixture {
  static constexpr int kClasses = 3;
  static constexpr std::size_t kFeatures = 6;
  std::vector<CleaningShard> shards;
  std::vector<std::uint8_t> changed;
  LabelledRows test = random_rows(200, kFeatures, kClasses, 99);
  CleaningSettings settings{.classes = kClasses, .ridge = 0.01};
  ResolveOptions options{.gradient_tolerance = 1e-10, .threads = 1};

  CleaningFixture() {
    const std::size_t train_sizes[] = {50, 17, 83}, validation_sizes[] = {9, 40, 21};
    adbo::RandomStream random(5, 0);
    for (std::size_t i = 0; i < 3; ++i) {
      CleaningShard shard{random_rows(train_sizes[i], kFeatures, kClasses, 10 + i),
                          random_rows(validation_sizes[i], kFeatures, kClasses, 20 + i)};
      for (std::int32_t& label : shard.train.labels) {
        const bool change = random.below(5) == 0;
        if (change) label = (label + 1 + static_cast<std::int32_t>(random.below(2))) % kClasses;
        changed.push_back(change);
      }
      shards.push_back(std::move(shard));
    }
  }

  [[nodiscard]] std::vector<double> perfect_upper() const {
    std::vector<double> upper(changed.size());
    for (std::size_t j = 0; j < upper.size(); ++j) upper[j] = changed[j] != 0 ? -40 : 40;
    return upper;
  }
  [[nodiscard]] CleaningMeasuresInput input(const std::vector<double>& upper) const {
    return {.shards = &shards,
            .settings = settings,
            .upper = upper,
            .upper_start = {},
            .lower_consensus = {},
            .test = &test,
            .label_changed = changed};
  }
};

TEST_CASE("cleaning measures: value functions are those of the problem, models those of fit_softmax") {
  for (const adbo::ShardWeights weights : {adbo::ShardWeights::kRows, adbo::ShardWeights::kEqual}) {
    CleaningFixture fixture;
    fixture.settings.shard_weights = weights;
    const std::vector<double> upper = random_point(150, 7, 2), start = random_point(150, 8);
    CleaningMeasuresInput input = fixture.input(upper);
    input.upper_start = start;
    input.deliver = adbo::DeliverRule::kWeighted;
    const CleaningMeasures measures = adbo::measure_cleaning(input, fixture.options);
    REQUIRE(measures.all_converged);
    CHECK(measures.worst_gradient_norm <= 1e-10);
    CHECK(measures.seconds > 0);

    adbo::Problem problem = adbo::make_hyper_cleaning(fixture.shards, fixture.settings);
    // Strong convexity 2 C_r = 0.02: models agree to 1e-8, values to that times their slope.
    const auto value_at = [&](const std::vector<double>& psi) {
      return value_function(problem, psi, {}, fixture.options).upper_objective;
    };
    CHECK(measures.value_function == doctest::Approx(value_at(upper)).epsilon(1e-7));
    CHECK(measures.value_function_start == doctest::Approx(value_at(start)).epsilon(1e-7));
    CHECK(measures.value_function_true_mask ==
          doctest::Approx(value_at(fixture.perfect_upper())).epsilon(1e-7));

    // The delivered model: every row counted once, whatever the shard weights.
    std::vector<adbo::WeightedRows> parts;
    std::vector<double> row_weights(upper);
    for (double& weight : row_weights) weight = 1 / (1 + std::exp(-weight));
    const double scale = 1.0 / (150 + 70);
    std::size_t begin = 0;
    for (const CleaningShard& shard : fixture.shards) {
      parts.push_back({&shard.train, std::span(row_weights).subspan(begin, shard.train.size()), scale});
      parts.push_back({&shard.validation, {}, scale});
      begin += shard.train.size();
    }
    const adbo::ModelFit delivered =
        fit_softmax(parts, CleaningFixture::kClasses, fixture.settings.ridge, {}, fixture.options);
    CHECK(relative_error(measures.delivered_model, delivered.model) < 1e-7);
    CHECK(measures.test_accuracy_delivered ==
          adbo::score_model(measures.delivered_model, fixture.test, CleaningFixture::kClasses).accuracy);

    // Validation rows alone, summed as in the upper level.
    std::vector<adbo::WeightedRows> validation_parts;
    for (const CleaningShard& shard : fixture.shards) {
      const double size = static_cast<double>(shard.validation.size());
      validation_parts.push_back(
          {&shard.validation, {}, weights == adbo::ShardWeights::kRows ? 1.0 / 70 : 1.0 / (3 * size)});
    }
    const adbo::ModelFit validation_only =
        fit_softmax(validation_parts, CleaningFixture::kClasses, fixture.settings.ridge, {}, fixture.options);
    CHECK(measures.test_accuracy_validation_only ==
          adbo::score_model(validation_only.model, fixture.test, CleaningFixture::kClasses).accuracy);
    CHECK(measures.test_accuracy_retrained ==
          adbo::score_model(value_function(problem, upper, {}, fixture.options).lower, fixture.test,
                            CleaningFixture::kClasses)
              .accuracy);
    CHECK(measures.test_accuracy_start ==
          adbo::score_model(value_function(problem, start, {}, fixture.options).lower, fixture.test,
                            CleaningFixture::kClasses)
              .accuracy);
  }
}

TEST_CASE("cleaning measures: perfect weights are the true mask") {
  const CleaningFixture fixture;
  const std::vector<double> upper = fixture.perfect_upper();
  const CleaningMeasures measures = adbo::measure_cleaning(fixture.input(upper), fixture.options);
  CHECK(measures.value_function == doctest::Approx(measures.value_function_true_mask).epsilon(1e-8));
  CHECK(measures.test_accuracy_retrained == measures.test_accuracy_true_mask);
  CHECK(measures.value_function < measures.value_function_start);
  CHECK(measures.detection_auc_weight == 1.0);
  CHECK(measures.detection_auc > measures.detection_auc_plain);
  CHECK(measures.detection_auc > 0.95);
}

TEST_CASE(
    "cleaning measures: the delivered model is trimmed of what the plain and the re-trained one find "
    "suspect") {
  const CleaningFixture fixture;
  const std::vector<double> upper = random_point(150, 7, 2);
  CleaningMeasuresInput input = fixture.input(upper);
  input.deliver = adbo::DeliverRule::kTrimmed;
  const CleaningMeasures measures = adbo::measure_cleaning(input, fixture.options);

  adbo::Problem problem = adbo::make_hyper_cleaning(fixture.shards, fixture.settings);
  std::vector<double> judge = value_function(problem, upper, {}, fixture.options).lower;
  const std::vector<double> plain =
      value_function(problem, std::vector<double>(150, 0.0), {}, fixture.options).lower;
  for (std::size_t k = 0; k < judge.size(); ++k) judge[k] = (judge[k] + plain[k]) / 2;
  const double scale = 1.0 / (150 + 70);
  std::vector<std::vector<double>> weights;
  std::size_t removed = 0;
  for (const CleaningShard& shard : fixture.shards) {
    const RowVerdicts verdicts = adbo::judge_rows(judge, shard.train, CleaningFixture::kClasses);
    std::vector<double>& kept = weights.emplace_back();
    for (const std::uint8_t suspect : verdicts.is_suspect) kept.push_back(suspect != 0 ? 0.0 : 1.0);
    removed += static_cast<std::size_t>(std::count(kept.begin(), kept.end(), 0.0));
  }
  REQUIRE(removed > 10);
  std::vector<adbo::WeightedRows> parts;
  for (std::size_t i = 0; i < fixture.shards.size(); ++i) {
    parts.push_back({&fixture.shards[i].train, weights[i], scale});
    parts.push_back({&fixture.shards[i].validation, {}, scale});
  }
  const adbo::ModelFit delivered =
      fit_softmax(parts, CleaningFixture::kClasses, fixture.settings.ridge, {}, fixture.options);
  CHECK(relative_error(measures.delivered_model, delivered.model) < 1e-7);
}

TEST_CASE("cleaning measures: effective rows are all rows at equal weights, one where one weight is all") {
  const CleaningFixture fixture;
  std::vector<double> upper(150, -3.0);
  const auto effective = [&] {
    return adbo::measure_cleaning(fixture.input(upper), fixture.options).effective_training_rows;
  };
  CHECK(effective() == doctest::Approx(150).epsilon(1e-12));
  upper.assign(150, -40.0);
  upper[17] = 40;
  CHECK(effective() == doctest::Approx(1).epsilon(1e-9));
  upper[18] = 0;  // weights 1 and 1/2: 1.5^2 / 1.25
  CHECK(effective() == doctest::Approx(1.8).epsilon(1e-9));
}

TEST_CASE("cleaning measures: a run that did nothing gains nothing") {
  const CleaningFixture fixture;
  const std::vector<double> upper(150, 0.0);
  const CleaningMeasures measures = adbo::measure_cleaning(fixture.input(upper), fixture.options);
  CHECK(measures.value_function == measures.value_function_start);
  CHECK(measures.test_accuracy_retrained == measures.test_accuracy_start);
  CHECK(measures.detection_auc_weight == 0.5);
}

TEST_CASE("cleaning measures: detection by the verdicts of the delivered model") {
  const CleaningFixture fixture;
  const std::vector<double> upper = random_point(150, 7);
  const CleaningMeasures measures = adbo::measure_cleaning(fixture.input(upper), fixture.options);
  REQUIRE(measures.verdicts.is_suspect.size() == 150);
  const adbo::DetectionScores scores = adbo::detection_scores(measures.verdicts.is_suspect, fixture.changed);
  CHECK(measures.detection_precision == scores.precision);
  CHECK(measures.detection_recall == scores.recall);
  CHECK(measures.detection_f1 == scores.f1);
  CHECK(scores.f1 > 0.5);

  // Row 60 is row 10 of the second shard.
  const LabelledRows row = adbo::test::slice(fixture.shards[1].train, 10, 1);
  const double loss = adbo::test::plain_softmax(row, CleaningFixture::kClasses, measures.delivered_model,
                                                std::vector<double>{1.0}, {});
  CHECK(measures.verdicts.given_probability[60] == doctest::Approx(std::exp(-loss)).epsilon(1e-12));
  std::vector<double> suspicion(measures.verdicts.given_probability);
  for (double& value : suspicion) value = 1 - value;
  CHECK(measures.detection_auc ==
        doctest::Approx(adbo::area_under_curve(suspicion, fixture.changed)).epsilon(1e-12));
}

TEST_CASE("cleaning measures: the same bits for any number of threads, baselines the same for any method") {
  const CleaningFixture fixture;
  const std::vector<double> upper = random_point(150, 7), other_upper = random_point(150, 8);
  const std::vector<double> consensus = random_point(18, 9);
  const CleaningMeasures serial = adbo::measure_cleaning(fixture.input(upper), fixture.options);
  for (const std::int64_t threads : {2, 5}) {
    ResolveOptions options = fixture.options;
    options.threads = threads;
    const CleaningMeasures parallel = adbo::measure_cleaning(fixture.input(upper), options);
    CHECK(parallel.value_function == serial.value_function);
    CHECK(parallel.value_function_true_mask == serial.value_function_true_mask);
    CHECK(parallel.delivered_model == serial.delivered_model);
    CHECK(parallel.detection_auc == serial.detection_auc);
    CHECK(parallel.verdicts.given_probability == serial.verdicts.given_probability);
  }
  CleaningMeasuresInput other = fixture.input(other_upper);
  other.lower_consensus = consensus;
  const CleaningMeasures another = adbo::measure_cleaning(other, fixture.options);
  CHECK(another.value_function != serial.value_function);
  CHECK(another.value_function_start == serial.value_function_start);
  CHECK(another.value_function_true_mask == serial.value_function_true_mask);
  CHECK(another.test_accuracy_validation_only == serial.test_accuracy_validation_only);
  CHECK(another.detection_auc_plain == serial.detection_auc_plain);
  CHECK(std::isnan(serial.test_accuracy_at_consensus));
  const adbo::ModelScore at_consensus = adbo::score_model(consensus, fixture.test, CleaningFixture::kClasses);
  CHECK(another.test_accuracy_at_consensus == at_consensus.accuracy);
  CHECK(another.test_loss_at_consensus == doctest::Approx(at_consensus.loss).epsilon(1e-12));
}

TEST_CASE("cleaning measures: given up within any of the fits") {
  const CleaningFixture fixture;
  const std::vector<double> upper = random_point(150, 7);
  ResolveOptions options = fixture.options;
  int asked = 0;
  options.give_up = [&] { return ++asked < 0; };
  const CleaningMeasures whole = adbo::measure_cleaning(fixture.input(upper), options);
  CHECK(whole.value_function == adbo::measure_cleaning(fixture.input(upper), fixture.options).value_function);
  const int evaluations = asked;
  REQUIRE(evaluations > 20);
  for (const int last : {0, 1, evaluations / 2, evaluations - 1}) {
    asked = 0;
    options.give_up = [&] { return asked++ == last; };
    CHECK_THROWS_AS((void)adbo::measure_cleaning(fixture.input(upper), options), adbo::GivenUp);
    CHECK(asked == last + 1);
  }
}

TEST_CASE("cleaning measures: baselines fitted once give every measure to the last bit") {
  const CleaningFixture fixture;
  const std::vector<double> upper = random_point(150, 7), consensus = random_point(18, 9);
  CleaningMeasuresInput input = fixture.input(upper);
  input.lower_consensus = consensus;
  const CleaningMeasures alone = adbo::measure_cleaning(input, fixture.options);
  const adbo::CleaningBaselines baselines =
      adbo::fit_cleaning_baselines(fixture.input(upper), fixture.options);
  input.baselines = &baselines;
  const CleaningMeasures shared = adbo::measure_cleaning(input, fixture.options);
  CHECK(shared.value_function == alone.value_function);
  CHECK(shared.value_function_start == alone.value_function_start);
  CHECK(shared.value_function_true_mask == alone.value_function_true_mask);
  CHECK(shared.test_accuracy_validation_only == alone.test_accuracy_validation_only);
  CHECK(shared.detection_auc_plain == alone.detection_auc_plain);
  CHECK(shared.delivered_model == alone.delivered_model);
  CHECK(shared.worst_gradient_norm == alone.worst_gradient_norm);

  adbo::CleaningBaselines of_others = baselines;
  of_others.true_mask.clear();
  input.baselines = &of_others;
  CHECK_THROWS_WITH_AS((void)adbo::measure_cleaning(input, fixture.options),
                       "measure_cleaning: the true mask's model has 0 entries, expected 18",
                       std::invalid_argument);
}

TEST_CASE("cleaning measures: what does not apply is not a number") {
  const CleaningFixture fixture;
  const std::vector<double> upper = random_point(150, 7), consensus = random_point(18, 9);
  CleaningMeasuresInput input = fixture.input(upper);
  input.test = nullptr;
  input.label_changed = {};
  input.lower_consensus = consensus;
  const CleaningMeasures measures = adbo::measure_cleaning(input, fixture.options);
  for (const double measure :
       {measures.value_function_true_mask, measures.test_accuracy_retrained, measures.test_accuracy_delivered,
        measures.test_accuracy_start, measures.test_accuracy_validation_only,
        measures.test_accuracy_true_mask, measures.test_accuracy_at_consensus,
        measures.test_loss_at_consensus, measures.detection_auc, measures.detection_auc_weight,
        measures.detection_auc_plain, measures.detection_precision, measures.detection_recall,
        measures.detection_f1}) {
    CHECK(std::isnan(measure));
  }
  CHECK(std::isfinite(measures.value_function));
  CHECK(std::isfinite(measures.value_function_start));
  CHECK(measures.verdicts.is_suspect.size() == 150);
  CHECK(measures.all_converged);
}

TEST_CASE("cleaning measures: fits that stop early are said") {
  const CleaningFixture fixture;
  const std::vector<double> upper = random_point(150, 7);
  const CleaningMeasures measures = adbo::measure_cleaning(
      fixture.input(upper), {.gradient_tolerance = 1e-12, .max_evaluations = 3, .threads = 1});
  CHECK_FALSE(measures.all_converged);
  CHECK(measures.worst_gradient_norm > 1e-12);
}

TEST_CASE("cleaning measures refuse sizes that do not fit") {
  const CleaningFixture fixture;
  const std::vector<double> upper(150, 0.0), shorter(149, 0.0);
  const auto refused = [&](const CleaningMeasuresInput& input, const char* message) {
    CHECK_THROWS_WITH_AS((void)adbo::measure_cleaning(input, fixture.options), message,
                         std::invalid_argument);
  };
  refused(fixture.input(shorter), "measure_cleaning: the upper variable has 149 entries, expected 150");
  CleaningMeasuresInput input = fixture.input(upper);
  input.upper_start = shorter;
  refused(input, "measure_cleaning: the start has 149 entries, expected 150");
  input = fixture.input(upper);
  input.label_changed = std::span(fixture.changed).first(10);
  refused(input, "measure_cleaning: label_changed has 10 entries, expected 150");
  input = fixture.input(upper);
  input.lower_consensus = upper;
  refused(input, "measure_cleaning: the lower consensus has 150 entries, expected 18");
  const LabelledRows wider = random_rows(3, 7, 3, 1);
  input = fixture.input(upper);
  input.test = &wider;
  refused(input, "test: 7 features, elsewhere 6");
  refused({}, "measure_cleaning: no shards");
}

}  // namespace
