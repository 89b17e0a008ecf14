#include "report/trace_file.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>

#include "support/exit_code.h"

namespace adbo::app {
namespace {

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(',', begin), line.size());
    cells.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return cells;
}

/// False for what is no number; an empty cell was not measured.
bool parse(std::string_view cell, double& value) {
  value = std::numeric_limits<double>::quiet_NaN();
  if (cell.empty()) return true;
  const auto [stop, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  return error == std::errc() && stop == cell.data() + cell.size();
}

}  // namespace

TraceFile TraceFile::read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string line;
  if (!std::getline(file, line)) throw DataError(fmt::format("{}: the trace cannot be read", path));
  TraceFile trace;
  std::vector<std::vector<double>*> columns;
  for (const std::string_view name : cells_of(line)) columns.push_back(&trace.columns_[std::string(name)]);
  std::vector<double> values(columns.size());
  for (std::size_t number = 2; std::getline(file, line) && !file.eof(); ++number) {
    const std::vector<std::string_view> cells = cells_of(line);
    bool is_good = cells.size() == columns.size();
    for (std::size_t c = 0; is_good && c < cells.size(); ++c) is_good = parse(cells[c], values[c]);
    if (!is_good) throw DataError(fmt::format("{}: line {} is not one of a trace", path, number));
    for (std::size_t c = 0; c < columns.size(); ++c) columns[c]->push_back(values[c]);
  }
  return trace;
}

Curve TraceFile::curve(std::string_view x, std::string_view y) const {
  const auto xs = columns_.find(x), ys = columns_.find(y);
  if (xs == columns_.end() || ys == columns_.end()) return {};
  Curve curve;
  for (std::size_t k = 0; k < xs->second.size(); ++k) {
    if (std::isfinite(xs->second[k]) && std::isfinite(ys->second[k])) {
      curve.emplace_back(xs->second[k], ys->second[k]);
    }
  }
  return curve;
}

}  // namespace adbo::app
