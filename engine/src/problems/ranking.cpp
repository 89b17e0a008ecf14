#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "adbo/measures.h"

namespace adbo {
namespace {

void require_same_size(std::size_t first, std::size_t second, const char* what) {
  if (first != second) {
    throw std::invalid_argument(std::string(what) + ": " + std::to_string(first) + " and " +
                                std::to_string(second) + " entries");
  }
}

std::vector<std::size_t> order_by(std::span<const double> score) {
  std::vector<std::size_t> order(score.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return score[a] < score[b]; });
  return order;
}

double ratio_or_zero(std::size_t part, std::size_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

// The Mann-Whitney statistic: pairs (positive, negative) in which the positive one scores higher, ties
// counted half.
double area_under_curve(std::span<const double> score, std::span<const std::uint8_t> positive) {
  require_same_size(score.size(), positive.size(), "area_under_curve: scores and classes");
  constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
  if (std::any_of(score.begin(), score.end(), [](double s) { return std::isnan(s); })) return kNotANumber;

  const std::vector<std::size_t> order = order_by(score);
  double concordant = 0;  // a multiple of 1/2: exact up to 2^52 pairs
  std::size_t positives = 0, negatives = 0;
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t tied_positives = 0, tied_negatives = 0, end = begin;
    for (; end < order.size() && score[order[end]] == score[order[begin]]; ++end) {
      ++(positive[order[end]] != 0 ? tied_positives : tied_negatives);
    }
    concordant += static_cast<double>(tied_positives) *
                  (static_cast<double>(negatives) + 0.5 * static_cast<double>(tied_negatives));
    positives += tied_positives;
    negatives += tied_negatives;
    begin = end;
  }
  if (positives == 0 || negatives == 0) return kNotANumber;
  return concordant / (static_cast<double>(positives) * static_cast<double>(negatives));
}

DetectionScores detection_scores(std::span<const std::uint8_t> predicted,
                                 std::span<const std::uint8_t> actual) {
  require_same_size(predicted.size(), actual.size(), "detection_scores: predictions and facts");
  std::size_t predicted_count = 0, actual_count = 0, both = 0;
  for (std::size_t j = 0; j < predicted.size(); ++j) {
    const bool is_predicted = predicted[j] != 0, is_actual = actual[j] != 0;
    predicted_count += is_predicted;
    actual_count += is_actual;
    both += is_predicted && is_actual;
  }
  return {.precision = ratio_or_zero(both, predicted_count),
          .recall = ratio_or_zero(both, actual_count),
          .f1 = ratio_or_zero(2 * both, predicted_count + actual_count)};
}

}  // namespace adbo
