#include "run_results.h"

#include <filesystem>
#include <sstream>

namespace adbo::test {
namespace {

void drop_times(nlohmann::json& json) {
  if (!json.is_structured()) return;
  for (const char* const name : {"wall_seconds", "cpu_seconds", "read_seconds", "measure_seconds", "out"}) {
    if (json.is_object()) json.erase(name);
  }
  for (auto& part : json.items()) drop_times(part.value());
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

std::string comparison_difference_of(const Workspace& files, const std::string& one,
                                     const std::string& other) {
  namespace fs = std::filesystem;
  if (deterministic_summary(files.read(one + "/table.json")) !=
      deterministic_summary(files.read(other + "/table.json"))) {
    return "table.json differs";
  }
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(files.path(one))) {
    if (!entry.is_directory() || !fs::exists(entry.path() / "summary.json")) continue;
    const std::string run = "/" + fs::relative(entry.path(), files.path(one)).string();
    const std::string difference = difference_of(files, one + run, other + run);
    if (!difference.empty()) return run + ": " + difference;
  }
  return "";
}

}  // namespace adbo::test
