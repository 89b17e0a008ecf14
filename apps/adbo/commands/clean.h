#pragma once

#include "commands/problem_run.h"

namespace adbo::app {

/// Data hyper-cleaning: reads, scales, shards, splits and (for experiments) corrupts the rows.
[[nodiscard]] PreparedTask prepare_cleaning(Settings& settings, const Console& console);

}  // namespace adbo::app
