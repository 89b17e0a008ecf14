#pragma once

#include <chrono>
#include <string_view>

#include "commands/prepared_task.h"
#include "execution/stop_signal.h"
#include "settings/task_settings.h"
#include "support/console.h"

namespace adbo::app {

/// What asks a command to come to its end: a signal, or its limit of time.
class CommandEnd {
 public:
  /// `limit_seconds` since `begun`; 0: no limit. `stop` has to outlive this.
  CommandEnd(const StopSignal& stop, std::chrono::steady_clock::time_point begun, double limit_seconds)
      : stop_(&stop), begun_(begun), limit_seconds_(limit_seconds) {}

  /// Seconds since the command began.
  [[nodiscard]] double seconds() const;
  /// For people; empty: nothing asks for it yet.
  [[nodiscard]] std::string_view reason() const;

 private:
  const StopSignal* stop_;
  std::chrono::steady_clock::time_point begun_;
  double limit_seconds_;
};

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
