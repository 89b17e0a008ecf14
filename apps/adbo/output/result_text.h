#pragma once

#include <string>

#include "output/summary_json.h"

namespace adbo::app {

/// The result of a run for people: how it ended, the measures, what they mean, and where the files are.
[[nodiscard]] std::string result_text(const RunFacts& facts, const std::string& folder);

}  // namespace adbo::app
