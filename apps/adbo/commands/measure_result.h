#pragma once

#include "commands/prepared_task.h"
#include "execution/command_end.h"
#include "settings/task_settings.h"
#include "support/console.h"

namespace adbo::app {

struct MeasuredResult {
  Findings findings;
  MeasureDepth depth = MeasureDepth::kFull;
  bool was_given_up = false;  ///< it was to be measured in full, and the command's end came first
};

/// Measures a result and writes the files of its kind of task: with kAuto in full, unless `end` comes first.
[[nodiscard]] MeasuredResult measure_result(const PreparedTask& task, const State& state,
                                            const OutputFolder& folder, MeasureRule rule,
                                            const CommandEnd& end, const Console& console);

}  // namespace adbo::app
