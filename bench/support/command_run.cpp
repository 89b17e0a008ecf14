#include "command_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

extern char** environ;

namespace adbo::bench {
namespace {

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::stringstream stream(line);
  for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
  return cells;
}

}  // namespace

void run_program(std::vector<std::string> words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  pid_t child = 0;
  if (posix_spawn(&child, pointers[0], nullptr, nullptr, pointers.data(), environ) != 0) {
    throw std::runtime_error("cannot start " + words[0]);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw std::runtime_error(
        fmt::format("{} ended with {}", fmt::join(words, " "), WIFEXITED(status) ? WEXITSTATUS(status) : -1));
  }
}

std::vector<TraceRow> read_trace(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> names = cells_of(line);
  std::vector<TraceRow> rows;
  while (std::getline(file, line)) {
    const std::vector<std::string> cells = cells_of(line);
    TraceRow& row = rows.emplace_back();
    for (std::size_t k = 0; k < cells.size(); ++k) {
      if (!cells[k].empty()) row[names.at(k)] = std::strtod(cells[k].c_str(), nullptr);
    }
  }
  return rows;
}

double time_to(const std::vector<TraceRow>& trace, const std::string& clock, const std::string& column,
               double level, bool rising) {
  for (const TraceRow& row : trace) {
    const auto found = row.find(column);
    if (found == row.end()) continue;
    if (rising ? found->second >= level : found->second <= level) return row.at(clock);
  }
  return std::numeric_limits<double>::quiet_NaN();
}

CommandRun run_command(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                       const std::filesystem::path& folder) {
  std::vector<std::string> words{program.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  words.insert(words.end(), {"--quiet", "--out", folder.string()});
  run_program(words);

  CommandRun run;
  const auto summary = nlohmann::json::parse(std::ifstream(folder / "summary.json"));
  run.status = summary.at("status").get<std::string>();
  for (const auto& [name, value] : summary.at("metrics").items()) run.metrics[name] = value.get<double>();
  for (const char* name : {"cpu_seconds", "virtual_seconds", "iterations"}) {
    run.metrics[name] = summary.at(name).get<double>();
  }
  run.trace = read_trace(folder / "trace.csv");
  return run;
}

}  // namespace adbo::bench
