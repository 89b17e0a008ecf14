#pragma once
// Which step sizes a comparison tries for a method.

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "settings/settings.h"

namespace adbo::app {

/// Options and their values; empty: as given.
using StepCandidate = std::vector<std::pair<std::string_view, double>>;

/// The first `count` candidates for the steps of a method; no candidates where it has no steps to set.
///
/// The first is the settings as they are. The k-th after it multiplies the steps of x by
/// 10^(-2 + 5 h_2(k)) and, where they are given numbers (not automatic), those of y by 10^(-1.5 + 3 h_3(k)),
/// with h_b(k) the k-th term of van der Corput's sequence in base b: the more candidates, the finer the
/// same ranges are covered, and those of a smaller `count` are among them.
[[nodiscard]] std::vector<StepCandidate> step_candidates(const Settings& settings, std::int64_t count);

}  // namespace adbo::app
