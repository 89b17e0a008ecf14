#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace adbo::app {

/// One quantity against another along a run.
using Curve = std::vector<std::pair<double, double>>;

/// A trace.csv in memory. What was not measured is NaN.
class TraceFile {
 public:
  /// DataError naming the file where a cell is no number or a line has another number of cells than the
  /// header. A last line that was cut off (a killed run) is left out.
  static TraceFile read(const std::string& path);

  /// The lines where both columns have a value; empty where a column is missing.
  [[nodiscard]] Curve curve(std::string_view x, std::string_view y) const;

 private:
  std::map<std::string, std::vector<double>, std::less<>> columns_;
};

}  // namespace adbo::app
