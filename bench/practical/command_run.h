#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace adbo::bench {

/// One row of trace.csv by column; cells that were not measured are absent.
using TraceRow = std::map<std::string, double>;

/// What one run of the command left behind.
struct CommandRun {
  std::map<std::string, double> metrics;  ///< of summary.json, with cpu_seconds and virtual_seconds
  std::string status;
  std::vector<TraceRow> trace;
};

/// Runs `program` with the arguments and --out `folder`, waits, and reads what it wrote. Throws
/// std::runtime_error with the command and the exit code when it fails.
[[nodiscard]] CommandRun run_command(const std::filesystem::path& program,
                                     const std::vector<std::string>& arguments,
                                     const std::filesystem::path& folder);

}  // namespace adbo::bench
