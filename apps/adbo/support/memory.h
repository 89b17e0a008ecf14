#pragma once

#include <string>

namespace adbo::app {

/// "at least 40 GiB, this machine has 24 GiB" where it has less physical memory than `bytes`; empty where it
/// has enough.
[[nodiscard]] std::string beyond_memory(double bytes);

}  // namespace adbo::app
