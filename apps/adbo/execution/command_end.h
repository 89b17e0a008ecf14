#pragma once

#include <chrono>
#include <string_view>

#include "execution/stop_signal.h"

namespace adbo::app {

/// What asks a command to come to its end: a signal, or its limit of time.
class CommandEnd {
 public:
  /// `limit_seconds` since `begun`; 0: no limit. `stop` has to outlive this.
  CommandEnd(const StopSignal& stop, std::chrono::steady_clock::time_point begun, double limit_seconds)
      : stop_(&stop), begun_(begun), limit_seconds_(limit_seconds) {}

  /// What is left of the limit; infinity without one, and at least 0.
  [[nodiscard]] double seconds_left() const;
  /// For people; empty: nothing asks for it yet.
  [[nodiscard]] std::string_view reason() const;

 private:
  const StopSignal* stop_;
  std::chrono::steady_clock::time_point begun_;
  double limit_seconds_;
};

}  // namespace adbo::app
