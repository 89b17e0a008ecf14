#pragma once
// Which step sizes a comparison tries for a method, and which of them it takes.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "settings/settings.h"

namespace adbo::app {

/// Options and their values; empty: as given.
using StepValues = std::vector<std::pair<std::string_view, double>>;

/// Steps to try, and how much longer they are than those given.
struct StepCandidate {
  StepValues steps;
  double upper_factor = 1;  ///< of the steps of x
  double lower_factor = 1;  ///< of the steps of y; 1 where none is searched
};

/// The first `count` candidates for the steps of a method; no candidates where it has no steps to set.
///
/// The first is the settings as they are. The k-th after it multiplies the steps of x by
/// 10^(-2 + 5 h_2(k)) and, where they are given numbers (not automatic), those of y by 10^(-1.5 + 3 h_3(k)),
/// with h_b(k) the k-th term of van der Corput's sequence in base b: the more candidates, the finer the
/// same ranges are covered, and those of a smaller `count` are among them.
[[nodiscard]] std::vector<StepCandidate> step_candidates(const Settings& settings, std::int64_t count);

/// Twice the candidate's steps, those that are as given included.
[[nodiscard]] StepValues doubled_steps(const Settings& settings, const StepCandidate& candidate);

/// How a method's runs are spent: on candidates, and on trials of the best ones with twice their steps.
struct SearchBudget {
  std::int64_t candidates = 0, trials = 0;
};
/// A quarter of the runs is for trials.
[[nodiscard]] SearchBudget search_budget(std::int64_t runs);

/// The candidates in the order in which they are to be taken: by their values, without those that failed a
/// trial and those whose steps are nowhere shorter than the steps of one that did.
class CandidateRanking {
 public:
  /// `value`: of the candidate's run; not finite where it came to none.
  void add(const StepCandidate& candidate, double value);
  /// The k-th candidate added does not stand twice its steps.
  void fail(std::size_t k);
  /// The best one that is left; where all that came to a value are out, the one with the shortest steps of x
  /// among those. Nothing where none came to a value.
  [[nodiscard]] std::optional<std::size_t> best() const;
  /// Whether best() is one that is left.
  [[nodiscard]] bool has_any_left() const;

 private:
  struct Entry {
    double upper_factor, lower_factor, value;
    bool is_out = false;
  };
  /// By value, or by upper_factor, among those that `counts` selects.
  template <class Less, class Counts>
  [[nodiscard]] std::optional<std::size_t> smallest(const Less& less, const Counts& counts) const;

  std::vector<Entry> entries_;
};

}  // namespace adbo::app
