#pragma once

#include "commands/problem_run.h"

namespace adbo::app {

/// Regularization coefficients: reads, pools, scales, shards and splits the rows.
[[nodiscard]] PreparedTask prepare_tuning(Settings& settings, const Console& console);

}  // namespace adbo::app
