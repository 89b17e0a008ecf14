#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace adbo::bench {

/// One row of trace.csv by column; cells that were not measured are absent.
using TraceRow = std::map<std::string, double>;

/// Runs a program (words[0]) with its arguments and waits. Throws std::runtime_error with the command and the
/// exit code when it fails.
void run_program(std::vector<std::string> words);
/// The rows of a trace.csv; none where there is no such file.
[[nodiscard]] std::vector<TraceRow> read_trace(const std::filesystem::path& path);
/// What `clock` ("cpu_seconds", "virtual_seconds") says in the first row whose `column` has come to `level`;
/// NaN: never.
[[nodiscard]] double time_to(const std::vector<TraceRow>& trace, const std::string& clock,
                             const std::string& column, double level, bool rising);

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
