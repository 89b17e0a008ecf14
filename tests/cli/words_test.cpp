#include "output/words.h"

#include <doctest/doctest.h>

#include <algorithm>

using adbo::CleaningMeasures;
using adbo::app::cleaning_words;
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
  CHECK(says(run_words(summary, adbo::Method::kAdbo), "hardly moved: its largest change is 1.1e-06"));
  summary.upper_change_max = 0.5;
  CHECK(run_words(summary, adbo::Method::kAdbo).empty());
  CHECK(says(run_words(summary, adbo::Method::kAuto), "auto stands for adbo"));
  summary.virtual_seconds = 20;
  summary.barrier_virtual_seconds = 2;
  CHECK(run_words(summary, adbo::Method::kAdbo).empty());
  summary.barrier_virtual_seconds = 5;
  CHECK(says(run_words(summary, adbo::Method::kAdbo), "Of the run's 20 s, 5 s (25 percent) went into waiting"));
}

TEST_CASE("words: cleaning against the best simple alternative") {
  CHECK(says(cleaning_words(measures(0.83, 0.81, 0.80), {}),
             "0.0200 above the best simple alternative, plain"));
  CHECK(says(cleaning_words(measures(0.83, 0.81, 0.843), {}), "Cleaning did not help"));
  CHECK(says(cleaning_words(measures(0.83, 0.81, 0.843), {}), "validation rows alone (0.8430)"));
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
  for (const double end : {2.0, 2.0 - 1e-4, 2.5}) {
    result.value_function = end;
    CHECK(says(cleaning_words(result, {}), "The value function did not fall"));
  }
  result.value_function = 2 - 3e-4;
  CHECK(!says(cleaning_words(result, {}), "did not fall"));
}
