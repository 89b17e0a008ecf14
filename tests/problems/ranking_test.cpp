#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "adbo/measures.h"
#include "adbo/random.h"

namespace {

using Bits = std::vector<std::uint8_t>;

double auc(const std::vector<double>& score, const Bits& positive) {
  return adbo::area_under_curve(score, positive);
}

TEST_CASE("area under the curve: cases done by hand") {
  CHECK(auc({1, 2, 3, 4}, {0, 0, 1, 1}) == 1.0);
  CHECK(auc({4, 3, 2, 1}, {0, 0, 1, 1}) == 0.0);
  CHECK(auc({1, 2, 3, 4}, {0, 1, 0, 1}) == 0.75);  // of 4 pairs, (3, 2) is the wrong way round
  CHECK(auc({7, 7, 7}, {1, 0, 1}) == 0.5);
  CHECK(auc({1, 2, 2, 3}, {0, 0, 1, 1}) == 0.875);  // one tie in 4 pairs
  CHECK(auc({-0.0, 0.0}, {0, 1}) == 0.5);           // equal numbers
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(auc({-infinity, 0, infinity}, {0, 1, 1}) == 1.0);
}

TEST_CASE("area under the curve: no answer") {
  CHECK(std::isnan(auc({1, 2}, {1, 1})));
  CHECK(std::isnan(auc({1, 2}, {0, 0})));
  CHECK(std::isnan(auc({}, {})));
  CHECK(std::isnan(auc({1, std::nan(""), 2}, {0, 1, 1})));
  CHECK_THROWS_WITH_AS(auc({1, 2, 3}, {0, 1}), "area_under_curve: scores and classes: 3 and 2 entries",
                       std::invalid_argument);
}

TEST_CASE("area under the curve agrees with counting every pair") {
  adbo::RandomStream random(3, 0);
  std::vector<double> score(300);
  Bits positive(score.size());
  for (std::size_t j = 0; j < score.size(); ++j) {
    score[j] = static_cast<double>(random.below(40));  // many ties
    positive[j] = random.below(3) == 0;
  }
  double concordant = 0, pairs = 0;
  for (std::size_t a = 0; a < score.size(); ++a) {
    for (std::size_t b = 0; b < score.size(); ++b) {
      if (positive[a] == 0 || positive[b] != 0) continue;
      pairs += 1;
      concordant += score[a] > score[b] ? 1.0 : (score[a] == score[b] ? 0.5 : 0.0);
    }
  }
  CHECK(auc(score, positive) == concordant / pairs);  // halves of whole numbers: exact
}

TEST_CASE("detection scores") {
  const adbo::DetectionScores scores = adbo::detection_scores(Bits{1, 1, 1, 0, 0}, Bits{1, 0, 1, 1, 0});
  CHECK(scores.precision == doctest::Approx(2.0 / 3));
  CHECK(scores.recall == doctest::Approx(2.0 / 3));
  CHECK(scores.f1 == doctest::Approx(2.0 / 3));

  const adbo::DetectionScores uneven = adbo::detection_scores(Bits{1, 0, 0, 0}, Bits{1, 1, 1, 0});
  CHECK(uneven.precision == 1.0);
  CHECK(uneven.recall == doctest::Approx(1.0 / 3));
  CHECK(uneven.f1 == 0.5);  // 2 P R / (P + R)

  const adbo::DetectionScores none_predicted = adbo::detection_scores(Bits{0, 0}, Bits{1, 0});
  CHECK(none_predicted.precision == 0.0);
  CHECK(none_predicted.recall == 0.0);
  CHECK(none_predicted.f1 == 0.0);
  CHECK(adbo::detection_scores(Bits{1, 0}, Bits{0, 0}).recall == 0.0);
  CHECK(adbo::detection_scores(Bits{}, Bits{}).f1 == 0.0);
  CHECK_THROWS_AS((void)adbo::detection_scores(Bits{1}, Bits{1, 0}), std::invalid_argument);
}

}  // namespace
