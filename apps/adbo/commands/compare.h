#pragma once

#include "commands/command.h"
#include "execution/comparison_journal.h"
#include "output/comparison_table.h"
#include "settings/comparison.h"

namespace adbo::app {

/// Every method in every repeat, beside the baselines: repeat r has the seed `seed` + r - 1, and its methods
/// share one split, corruption and start. A run that diverges, fails or is refused is a row with its status.
/// With request.search, every method's steps are chosen before, each from as many candidates.
/// Leaves the tables and a folder per run; after each repeat the tables are those of the repeats so far. What
/// is over by the journal is not run again.
[[nodiscard]] ExitCode compare_methods(const ComparisonRequest& request,
                                       const std::vector<ComparedMethod>& methods, ComparisonJournal journal,
                                       const Environment& environment);

/// By comparison_json(): of the first run of a method, where none of all runs has a result; kFinished where
/// one has. Json::exception where it is no such table.
[[nodiscard]] ExitCode comparison_failure(const Json& table);

}  // namespace adbo::app
