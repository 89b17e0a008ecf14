#pragma once

#include "commands/prepared_task.h"
#include "support/console.h"
#include "tasks/datasets.h"

namespace adbo::app {

/// Data hyper-cleaning: scales, shards, splits and (for experiments) corrupts the rows of the data.
[[nodiscard]] PreparedTask prepare_cleaning(Settings& settings, LoadedData data, const Console& console);

}  // namespace adbo::app
