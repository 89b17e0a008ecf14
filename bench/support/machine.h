#pragma once

#include <string>

namespace adbo::bench {

/// "PROCESSOR, 2 cores".
[[nodiscard]] std::string machine();
/// "2026-11-28".
[[nodiscard]] std::string today();

}  // namespace adbo::bench
