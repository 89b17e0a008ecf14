#pragma once

#include "commands/prepared_task.h"
#include "support/console.h"
#include "tasks/datasets.h"

namespace adbo::app {

/// Regularization coefficients: pools, scales, shards and splits the rows of the data.
[[nodiscard]] PreparedTask prepare_tuning(Settings& settings, LoadedData data, const Console& console);

}  // namespace adbo::app
