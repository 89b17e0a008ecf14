#include "run_results.h"

#include <sstream>

namespace adbo::test {
namespace {

void drop_times(nlohmann::json& json) {
  if (!json.is_object()) return;
  for (const char* const name : {"wall_seconds", "cpu_seconds", "read_seconds", "measure_seconds", "out"}) {
    json.erase(name);
  }
  for (auto& [name, value] : json.items()) drop_times(value);
}

}  // namespace

std::vector<std::string> deterministic_trace(const std::string& csv) {
  std::vector<std::string> rows;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    std::string row, cell;
    std::istringstream cells(line);
    for (int k = 0; std::getline(cells, cell, ','); ++k) {
      if (k != 1 && k != 13) row += cell + ",";  // wall_seconds, cpu_seconds
    }
    rows.push_back(row);
  }
  return rows;
}

nlohmann::json deterministic_summary(const std::string& text) {
  nlohmann::json json = nlohmann::json::parse(text);
  drop_times(json);
  return json;
}

}  // namespace adbo::test
