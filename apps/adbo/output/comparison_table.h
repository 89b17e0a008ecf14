#pragma once
// The outcome of `adbo compare`: one row per method, and one line per run.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "output/summary_json.h"

namespace adbo::app {

/// One method (or baseline) in one repeat.
struct ComparedRun {
  std::size_t repeat = 1;  ///< from 1
  std::uint64_t seed = 0;
  std::string digest;   ///< of split, corruption and start
  std::string folder;   ///< of the run's files, relative to the comparison's
  std::string status;   ///< of the run ("converged", ...), "baseline", "refused" or "failed"
  std::string message;  ///< what ended it, or nothing
  std::string note;     ///< why there is no value function, where there is none
  std::string dropped;  ///< workers whose rows left the run, and when; empty: none
  bool counts = false;  ///< whether its values enter means and deviations
  std::vector<std::pair<std::string, double>> values;  ///< by column; what does not apply is left out
};

struct ComparedRow {
  std::string method;
  std::vector<ComparedRun> runs;
  Json config = nullptr;  ///< null for baselines
  /// Null where steps were not searched; else seed, digest, candidates [steps, status, value_function, ...],
  /// trials of their doubled steps [candidate, stands, the same] and, where a candidate has a result, the
  /// index `chosen` and its value_function.
  Json search = nullptr;
};

struct ComparisonTable {
  std::string problem;
  std::vector<ComparedRow> rows;
  Json data;
};

/// Mean and standard deviation (n - 1; NaN for a single value) over the runs that count and have the value.
struct Statistic {
  std::size_t count = 0;
  double mean = 0, deviation = 0;
};
[[nodiscard]] Statistic statistic_of(const ComparedRow& row, std::string_view column);

[[nodiscard]] double value_of(const ComparedRun& run, std::string_view column);  ///< NaN: not there
/// "step_upper = 0.3 (candidate 4 of 8, F 0.2)" or what else a search came to; "" where there was none.
[[nodiscard]] std::string search_text(const Json& search);

/// "converged", or "2 stopped, 1 diverged".
[[nodiscard]] std::string status_of(const ComparedRow& row);

/// The columns that some row has a value of, in the order of the files: those of time stand last.
[[nodiscard]] std::vector<std::string_view> columns_of(const ComparisonTable& table);

/// Markdown: the measures that decide, mean and deviation, and the messages of what did not end well.
[[nodiscard]] std::string markdown_text(const ComparisonTable& table);
/// Everything, the runs included.
[[nodiscard]] Json comparison_json(const ComparisonTable& table);
inline constexpr std::array<std::string_view, 4> kComparisonTables{"table.md", "table.csv", "runs.csv",
                                                                   "table.json"};
/// table.md, table.csv (one line per method), runs.csv (one per run), table.json.
void write_comparison(const std::string& folder, const ComparisonTable& table);

}  // namespace adbo::app
