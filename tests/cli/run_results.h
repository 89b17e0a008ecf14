#pragma once
// What two runs of the command have to agree on: everything but the machine's clocks.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "run_command.h"

namespace adbo::test {

/// The lines of a trace.csv without the columns of the machine's clocks.
[[nodiscard]] std::vector<std::string> deterministic_trace(const std::string& csv);
/// A summary.json or table.json without seconds of the machine's clocks and the name of the folder.
[[nodiscard]] nlohmann::json deterministic_summary(const std::string& text);

/// Which of the results in two folders differ, "" where none does: "upper.npy differs".
[[nodiscard]] std::string difference_of(const Workspace& files, const std::string& one,
                                        const std::string& other);
/// The same of two comparisons: their tables, and the results of every run ("/soba-2: trace.csv differs").
[[nodiscard]] std::string comparison_difference_of(const Workspace& files, const std::string& one,
                                                   const std::string& other);

}  // namespace adbo::test
