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

double factor_of(const StepCandidate& candidate, const SearchedStep& step) {
  return step.is_upper ? candidate.upper_factor : candidate.lower_factor;
}

}  // namespace

std::vector<StepCandidate> step_candidates(const Settings& settings, std::int64_t count) {
  std::vector<StepCandidate> candidates;
  const std::vector<SearchedStep> steps = searched_steps(settings.options());
  if (steps.empty()) return candidates;
  const bool has_lower =
      std::any_of(steps.begin(), steps.end(), [](const SearchedStep& step) { return !step.is_upper; });
  for (std::int64_t k = 0; k < count; ++k) {
    StepCandidate& candidate = candidates.emplace_back();
    if (k == 0) continue;
    candidate.upper_factor = factor(kUpperRange, van_der_corput(k, 2));
    if (has_lower) candidate.lower_factor = factor(kLowerRange, van_der_corput(k, 3));
    for (const SearchedStep& step : steps) {
      candidate.steps.emplace_back(step.name, settings.options().*step.member * factor_of(candidate, step));
    }
  }
  return candidates;
}

StepValues doubled_steps(const Settings& settings, const StepCandidate& candidate) {
  StepValues values;
  for (const SearchedStep& step : searched_steps(settings.options())) {
    values.emplace_back(step.name, 2 * settings.options().*step.member * factor_of(candidate, step));
  }
  return values;
}

SearchBudget search_budget(std::int64_t runs) { return {.candidates = runs - runs / 4, .trials = runs / 4}; }

void CandidateRanking::add(const StepCandidate& candidate, double value) {
  entries_.push_back({candidate.upper_factor, candidate.lower_factor, value});
}

void CandidateRanking::fail(std::size_t k) {
  const Entry failed = entries_[k];
  for (Entry& entry : entries_) {
    const bool is_shorter =
        entry.upper_factor < failed.upper_factor || entry.lower_factor < failed.lower_factor;
    entry.is_out = entry.is_out || !is_shorter;
  }
}

template <class Less, class Counts>
std::optional<std::size_t> CandidateRanking::smallest(const Less& less, const Counts& counts) const {
  std::optional<std::size_t> found;
  for (std::size_t k = 0; k < entries_.size(); ++k) {
    if (!std::isfinite(entries_[k].value) || !counts(entries_[k])) continue;
    if (!found || less(entries_[k], entries_[*found])) found = k;
  }
  return found;
}

std::optional<std::size_t> CandidateRanking::best() const {
  if (has_any_left()) {
    return smallest([](const Entry& a, const Entry& b) { return a.value < b.value; },
                    [](const Entry& entry) { return !entry.is_out; });
  }
  return smallest([](const Entry& a, const Entry& b) { return a.upper_factor < b.upper_factor; },
                  [](const Entry&) { return true; });
}

bool CandidateRanking::has_any_left() const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [](const Entry& entry) { return std::isfinite(entry.value) && !entry.is_out; });
}

}  // namespace adbo::app
