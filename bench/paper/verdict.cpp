#include "verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace adbo::bench {
namespace {

constexpr double kNever = std::numeric_limits<double>::quiet_NaN();
const std::string kLoss = "test_loss";

/// NaN counts as later than everything.
double median(std::vector<double> values) {
  if (values.empty()) return kNever;
  for (double& value : values) {
    if (std::isnan(value)) value = std::numeric_limits<double>::infinity();
  }
  std::sort(values.begin(), values.end());
  const double middle = values[values.size() / 2];
  return std::isinf(middle) ? kNever : middle;
}

struct Range {
  double first = kNever, lowest = std::numeric_limits<double>::infinity();
};

/// Of one repeat, over all methods: they start at the same point.
Range loss_range(const std::vector<MethodTraces>& methods, std::size_t repeat) {
  Range range;
  for (const MethodTraces& method : methods) {
    if (repeat >= method.repeats.size()) continue;
    for (const TraceRow& row : method.repeats[repeat]) {
      const auto loss = row.find(kLoss);
      if (loss == row.end() || !std::isfinite(loss->second)) continue;
      if (std::isnan(range.first)) range.first = loss->second;
      range.lowest = std::min(range.lowest, loss->second);
    }
  }
  return range;
}

bool is_before(double a, double b) { return !std::isnan(a) && (std::isnan(b) || a < b); }

bool is_as_claimed(const LevelTimes& level, Claim claim) {
  for (std::size_t k = 0; k + 1 < level.times.size(); ++k) {
    const std::size_t earlier = claim == Claim::kEachBeforeNext ? k : 0;
    if (!is_before(level.times[earlier], level.times[k + 1])) return false;
  }
  return true;
}

}  // namespace

std::vector<LevelTimes> times_to_levels(const std::vector<MethodTraces>& methods, const std::string& clock) {
  std::size_t repeats = 0;
  for (const MethodTraces& method : methods) repeats = std::max(repeats, method.repeats.size());
  std::vector<LevelTimes> levels;
  for (const double part : {0.5, 0.75, 0.9}) {
    LevelTimes& level = levels.emplace_back(LevelTimes{.part = part, .level = 0, .times = {}});
    std::vector<std::vector<double>> times(methods.size());
    for (std::size_t r = 0; r < repeats; ++r) {
      const Range range = loss_range(methods, r);
      const double loss = range.first - part * (range.first - range.lowest);
      level.level += loss / static_cast<double>(repeats);
      for (std::size_t k = 0; k < methods.size(); ++k) {
        if (r >= methods[k].repeats.size()) continue;
        times[k].push_back(time_to(methods[k].repeats[r], clock, kLoss, loss, false));
      }
    }
    for (const std::vector<double>& values : times) level.times.push_back(median(values));
  }
  return levels;
}

std::string verdict(const std::vector<LevelTimes>& levels, Claim claim) {
  std::string at;
  std::size_t held = 0;
  for (const LevelTimes& level : levels) {
    if (!is_as_claimed(level, claim)) continue;
    ++held;
    at += fmt::format("{}{:.0f} %", at.empty() ? "" : ", ", 100 * level.part);
  }
  if (held == levels.size()) return "holds";
  return held == 0 ? "does not hold" : "holds only at " + at + " of the way";
}

}  // namespace adbo::bench
