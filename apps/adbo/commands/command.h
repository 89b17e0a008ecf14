#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "support/console.h"
#include "support/exit_code.h"

namespace adbo::app {

/// What the process gives its commands.
struct Environment {
  Console& console;
  /// Sets how many threads may run workers in this process (0: one per processor); called before the first
  /// one starts.
  std::function<void(std::int64_t)> limit_threads;
};

/// Runs the command that the arguments (without the program's name) ask for. Every error becomes a message
/// and an exit code here.
[[nodiscard]] ExitCode run_command(const std::vector<std::string>& arguments, const Environment& environment);

}  // namespace adbo::app
