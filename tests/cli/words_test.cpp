#include "output/words.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

using adbo::CleaningMeasures;
using adbo::app::cleaning_words;
using adbo::app::guess_words;
using adbo::app::run_words;
using adbo::app::tuning_words;

namespace {

bool says(const std::vector<std::string>& words, std::string_view piece) {
  return std::any_of(words.begin(), words.end(), [piece](const std::string& sentence) {
    return sentence.find(piece) != std::string::npos;
  });
}

CleaningMeasures measures(double delivered, double plain, double validation_only) {
  CleaningMeasures result;
  result.test_accuracy_delivered = delivered;
  result.test_accuracy_start = plain;
  result.test_accuracy_validation_only = validation_only;
  result.test_accuracy_retrained = delivered;
  result.all_converged = true;
  return result;
}

}  // namespace

TEST_CASE("words: an upper variable that did not move is said") {
  adbo::Summary summary;
  summary.termination = adbo::Termination::kIterationLimit;
  summary.upper_change_max = 1.1e-6;
  CHECK(says(run_words(summary, adbo::Method::kAdbo, {}), "hardly moved: its largest change is 1.1e-06"));
  summary.upper_change_max = 0.5;
  CHECK(run_words(summary, adbo::Method::kAdbo, {}).empty());
  CHECK(says(run_words(summary, adbo::Method::kAuto, {}), "auto stands for async-hypergradient"));
  summary.method_used = adbo::Method::kAdbo;
  summary.virtual_seconds = 20;
  summary.barrier_virtual_seconds = 2;
  CHECK(run_words(summary, adbo::Method::kAdbo, {}).empty());
  summary.barrier_virtual_seconds = 5;
  CHECK(says(run_words(summary, adbo::Method::kAdbo, {}),
             "Of the run's 20 s, 5 s (25 percent) went into waiting"));
  for (const adbo::Method method : {adbo::Method::kExact, adbo::Method::kFedNest, adbo::Method::kCpbo}) {
    summary.method_used = method;
    CHECK(run_words(summary, method, {}).empty());
  }
}

TEST_CASE("words: cleaning against the best simple alternative") {
  CHECK(says(cleaning_words(measures(0.83, 0.81, 0.80), {}),
             "0.0200 above the best simple alternative, plain"));
  CHECK(says(cleaning_words(measures(0.83, 0.81, 0.80), {}), "Cleaning paid"));
  CHECK(
      says(cleaning_words(measures(0.83, 0.81, 0.80), {}), "(0.8100; on the validation rows alone 0.8000)"));
  CHECK(!says(cleaning_words(measures(0.83, 0.81, 0.843), {}), "Cleaning paid"));
  CHECK(says(cleaning_words(measures(0.83, 0.81, 0.843), {}), "Cleaning did not help"));
  CHECK(says(cleaning_words(measures(0.83, 0.81, 0.843), {}),
             "validation rows alone (0.8430; plain training 0.8100)"));
  CHECK(says(cleaning_words(measures(0.81, 0.81, 0.80), {}), "equals that of plain training"));
  CHECK(says(cleaning_words(measures(0.81, 0.81, 0.80), {}), "learned weights alone do not help"));
  CHECK(!says(cleaning_words(measures(0.83, 0.81, 0.80), {}), "learned weights alone"));
  CHECK(says(cleaning_words(CleaningMeasures{}, {}), "No test rows were given"));
}

TEST_CASE("words: trusted rows, value function, unfinished re-solves") {
  CleaningMeasures result = measures(0.8, 0.7, 0.7);
  CHECK(says(cleaning_words(result, {.validation_from_train = true}), "taken from the training file"));
  result.value_function_start = 1;
  result.value_function = 1.25;
  result.all_converged = false;
  result.worst_gradient_norm = 0.02;
  const std::vector<std::string> words = cleaning_words(result, {.tolerance = 1e-4});
  CHECK(says(words, "did not fall (1 at the start, 1.25 at the end)"));
  CHECK(says(words, "1.0e-04: the worst stands at 2.0e-02"));
}

TEST_CASE("words: an unbounded lower level is said") {
  adbo::ValueFunction end, start;
  start.converged = true;
  end.reason = "unbounded";
  CHECK(says(tuning_words(end, start, 0.5, 0.5), "unbounded at the end"));
  CHECK(says(tuning_words(end, start, 0.5, 0.5), "did not improve the test accuracy"));
}

TEST_CASE("words: a value function that fell by nothing to speak of did not fall") {
  CleaningMeasures result = measures(0.8, 0.7, 0.7);
  result.value_function_start = 2;
  for (const double end : {2.0, 2.5}) {
    result.value_function = end;
    CHECK(says(cleaning_words(result, {}), "The value function did not fall"));
  }
  result.value_function = 2 - 1e-8;  // both numbers can be told apart
  CHECK(says(cleaning_words(result, {}), "hardly fell (from 2 to 1.99999999, by less than 0.0001 of it)"));
  result.value_function = 2 - 3e-4;
  CHECK(!says(cleaning_words(result, {}), " fell"));
  CHECK(!says(cleaning_words(result, {}), " fall"));
}

TEST_CASE("words: a change below what was measured is neither a fall nor none") {
  CleaningMeasures result = measures(0.8, 0.7, 0.7);
  result.value_function_start = 0.4;
  for (const double end : {0.4 - 9e-5, 0.4 + 9e-5, 0.4 - 1e-6}) {
    result.value_function = end;
    const std::vector<std::string> words = cleaning_words(result, {.tolerance = 1e-4});
    CHECK(says(words, "below what was measured (measure_tolerance = 1.0e-04)"));
    CHECK(!says(words, "did not fall"));
  }
  result.value_function = 0.4;  // not a bit
  CHECK(says(cleaning_words(result, {.tolerance = 1e-4}), "did not fall"));
  result.value_function = 0.4 - 2e-4;
  CHECK(!says(cleaning_words(result, {.tolerance = 1e-4}), "value function"));
  result.value_function = 0.4 + 2e-4;
  CHECK(says(cleaning_words(result, {.tolerance = 1e-4}), "did not fall"));
}

TEST_CASE("words: which state is delivered, and why the run ended") {
  adbo::Summary summary;
  summary.termination = adbo::Termination::kIterationLimit;
  summary.iterations = 80;
  summary.upper_change_max = 1;
  const adbo::app::HeldOutFacts best{.delivered_iteration = 45, .loss = 0.5, .loss_start = 0.75};
  CHECK(says(
      run_words(summary, adbo::Method::kAdbo, best),
      "the state after iteration 45: the held-out rows (loss 0.5, at the start 0.75) cannot tell a later one "
      "from it. The run ended after iteration 80, the limit."));
  const adbo::app::HeldOutFacts last{.delivered_iteration = 80, .loss = 0.5, .loss_start = 0.75};
  CHECK(
      says(run_words(summary, adbo::Method::kAdbo, last), "Delivered is the last state, after iteration 80"));
  summary.termination = adbo::Termination::kStopped;
  CHECK(says(run_words(summary, adbo::Method::kAdbo, best), "after iteration 80, as asked."));
  summary.message = "the held-out loss has not fallen for 35 iterations (patience)";
  CHECK(says(run_words(summary, adbo::Method::kAdbo, best), "after iteration 80, because the held-out loss"));
  CHECK(says(run_words(summary, adbo::Method::kAdbo, adbo::app::HeldOutFacts{}), "was never finite"));

  adbo::app::HeldOutFacts cut_short = best;
  cut_short.cut_short = {.iterations = 12, .why = "the time limit was over"};
  CHECK(says(
      run_words(summary, adbo::Method::kAdbo, cut_short),
      "The second run, with all validation rows, was cut short after 12 of 45 iterations (the time limit was "
      "over)"));
  adbo::app::HeldOutFacts refitted = best;
  refitted.refit = adbo::Summary{};
  CHECK(says(run_words(summary, adbo::Method::kAdbo, refitted),
             "chose the state after iteration 45 of 80. Delivered is the result of a second run"));
  refitted.refit->dropped_workers.push_back({.worker = 1, .iteration = 7, .why = "it is gone"});
  CHECK(says(run_words(summary, adbo::Method::kAdbo, refitted),
             "Worker 1 was dropped at iteration 7 of the second run (it is gone)"));

  // Of a diverged run the best state is delivered, not the last finite one.
  summary.termination = adbo::Termination::kDiverged;
  CHECK(!says(run_words(summary, adbo::Method::kAdbo, best), "last finite iterate"));
  CHECK(says(run_words(summary, adbo::Method::kAdbo, {}), "last finite iterate"));
}

TEST_CASE("words: weights that rest on few rows draw a warning") {
  CleaningMeasures result = measures(0.8, 0.7, 0.7);
  result.verdicts.given_probability.resize(1000);
  result.effective_training_rows = 100;
  CHECK(!says(cleaning_words(result, {}), "Warning"));
  result.effective_training_rows = 99.5;
  CHECK(says(cleaning_words(result, {}), "in effect 99.5 of 1000 training rows"));
}

TEST_CASE("words: a model that is no better than the most frequent label") {
  const std::vector<std::int32_t> labels{1, 0, 0, 0};
  CHECK(says({guess_words(0.75, labels)},
             "right on 0.7500 of the test rows; their most frequent label alone is on 0.7500"));
  CHECK(guess_words(0.76, labels).empty());
  CHECK(guess_words(std::numeric_limits<double>::quiet_NaN(), labels).empty());
}

TEST_CASE("words: a method with steps that diverges is told of shorter ones") {
  adbo::Summary summary;
  summary.termination = adbo::Termination::kDiverged;
  summary.method_used = adbo::Method::kDsbo;
  CHECK(says(run_words(summary, adbo::Method::kDsbo, {}), "step_upper"));
  summary.method_used = adbo::Method::kExact;
  CHECK(!says(run_words(summary, adbo::Method::kExact, {}), "step_upper"));
}
