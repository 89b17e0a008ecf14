#include "execution/command_end.h"

#include <algorithm>
#include <limits>

namespace adbo::app {

double CommandEnd::seconds_left() const {
  if (limit_seconds_ <= 0) return std::numeric_limits<double>::infinity();
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begun_;
  return std::max(0.0, limit_seconds_ - passed.count());
}

std::string_view CommandEnd::reason() const {
  if (stop_->received() != 0) return "a signal came";
  return seconds_left() > 0 ? std::string_view() : "the time limit was over";
}

}  // namespace adbo::app
