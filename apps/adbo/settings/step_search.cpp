#include "settings/step_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "adbo/method_table.h"

namespace adbo::app {
namespace {

struct SearchedStep {
  std::string_view name;
  double Options::*member;
  bool is_upper;
};

constexpr std::array kSteps{
    SearchedStep{"step_upper", &Options::step_upper, true},
    SearchedStep{"step_lower", &Options::step_lower, false},
    SearchedStep{"step_upper_local", &Options::step_upper_local, true},
    SearchedStep{"step_upper_consensus", &Options::step_upper_consensus, true},
    SearchedStep{"step_lower_local", &Options::step_lower_local, false},
    SearchedStep{"step_lower_consensus", &Options::step_lower_consensus, false},
};

/// Exponents of ten between which a factor lies.
struct Range {
  double lowest, width;
};
constexpr Range kUpperRange{-2, 5}, kLowerRange{-1.5, 3};

/// The digits of `k` in this base, mirrored at the point.
double van_der_corput(std::int64_t k, std::int64_t base) {
  double value = 0, place = 1;
  for (; k > 0; k /= base) {
    place /= static_cast<double>(base);
    value += place * static_cast<double>(k % base);
  }
  return value;
}

double factor(const Range& range, double position) {
  return std::pow(10.0, range.lowest + range.width * position);
}

/// Cuts from running estimates have two steps that may be given; with steps = auto they choose them.
bool is_in_use(const SearchedStep& step, const Options& options) {
  if (!acts_on(*find_option(step.name), options.method) || !(options.*step.member > 0)) return false;
  if (!acts_on(*find_option("steps"), options.method)) return true;
  if (options.steps == StepRule::kTheorem2) return false;
  if (options.cuts == CutConstruction::kUnrolled) return true;
  return options.steps == StepRule::kFixed &&
         (step.name == "step_lower_local" || step.name == "step_upper_consensus");
}

std::vector<SearchedStep> searched_steps(const Options& options) {
  std::vector<SearchedStep> steps;
  std::copy_if(kSteps.begin(), kSteps.end(), std::back_inserter(steps),
               [&options](const SearchedStep& step) { return is_in_use(step, options); });
  return steps;
}

}  // namespace

std::vector<StepCandidate> step_candidates(const Settings& settings, std::int64_t count) {
  std::vector<StepCandidate> candidates;
  const std::vector<SearchedStep> steps = searched_steps(settings.options());
  if (steps.empty()) return candidates;
  for (std::int64_t k = 0; k < count; ++k) {
    StepCandidate& candidate = candidates.emplace_back();
    if (k == 0) continue;
    const double upper = factor(kUpperRange, van_der_corput(k, 2)),
                 lower = factor(kLowerRange, van_der_corput(k, 3));
    for (const SearchedStep& step : steps) {
      candidate.emplace_back(step.name, settings.options().*step.member * (step.is_upper ? upper : lower));
    }
  }
  return candidates;
}

}  // namespace adbo::app
