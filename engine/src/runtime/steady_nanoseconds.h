#pragma once

#include <chrono>
#include <cstdint>

namespace adbo::detail {

[[nodiscard]] inline std::int64_t nanoseconds(std::chrono::steady_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

}  // namespace adbo::detail
