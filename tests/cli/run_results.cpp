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

std::string difference_of(const Workspace& files, const std::string& one, const std::string& other) {
  for (const std::string name : {"upper.npy", "model.npy", "suspects.csv", "coefficients.csv"}) {
    if (files.read(one + "/" + name) != files.read(other + "/" + name)) return name + " differs";
  }
  for (const std::string name : {"trace.csv", "trace_refit.csv"}) {
    if (deterministic_trace(files.read(one + "/" + name)) !=
        deterministic_trace(files.read(other + "/" + name))) {
      return name + " differs";
    }
  }
  const bool same = deterministic_summary(files.read(one + "/summary.json")) ==
                    deterministic_summary(files.read(other + "/summary.json"));
  return same ? "" : "summary.json differs";
}

}  // namespace adbo::test
