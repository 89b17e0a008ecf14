#pragma once
// The line of a comparison's table that a run, or a baseline, becomes.

#include <cstdint>
#include <string_view>

#include "commands/prepared_task.h"
#include "commands/run_task.h"
#include "output/comparison_table.h"

namespace adbo::app {

/// The measures of a state, whatever found it.
void add_measures(ComparedRun& row, const Metrics& metrics);
/// How a run ended, its measures, and what it took; with the second run's where held-out rows chose its
/// length.
void add_outcome(ComparedRun& row, const FinishedRun& run);

/// What summary.json says of a run, for what was measured without one.
[[nodiscard]] Json baseline_json(std::string_view problem, std::string_view name, std::uint64_t seed,
                                 const Findings& findings, const Json& data);

}  // namespace adbo::app
