#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "adbo/summary.h"
#include "settings/task_settings.h"
#include "support/console.h"

namespace adbo::app {

/// How far the run is, on stderr: a bar that is redrawn ten times a second at most, or a line every five
/// seconds.
class Progress {
 public:
  /// kAuto and kBar become a bar on a terminal and lines elsewhere; a quiet console gets nothing.
  Progress(const Console& console, ProgressMode mode, std::int64_t iterations);

  void update(const TraceRecord& record, std::optional<double> test_accuracy);
  /// Leaves the last state on the screen.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  void draw();
  [[nodiscard]] double eta_seconds(Clock::time_point now) const;

  const Console& console_;
  ProgressMode mode_;
  std::int64_t iterations_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_drawn_ = start_;
  TraceRecord record_;
  struct LastTest {
    double accuracy = 0;
    std::int64_t iteration = 0;
  };
  std::optional<LastTest> test_;
  bool is_stale_ = false;  ///< record_ has not been drawn
};

}  // namespace adbo::app
