#include "report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include "machine.h"

namespace adbo::bench {
namespace {

std::string shown(double value) { return std::isnan(value) ? "never" : fmt::format("{:.5g}", value); }

std::string asked(const Figure& figure) {
  return figure.target ? fmt::format("{} {:.4g}", figure.at_least ? "at least" : "at most", *figure.target)
                       : "";
}

nlohmann::json to_json(const Figure& figure) {
  nlohmann::json json{{"name", figure.name}, {"values", nlohmann::json::array()}};
  for (const double value : figure.values) {
    json["values"].push_back(std::isnan(value) ? nlohmann::json() : nlohmann::json(value));
  }
  if (!std::isnan(figure.median())) json["median"] = figure.median();
  if (figure.target) {
    json[figure.at_least ? "at_least" : "at_most"] = *figure.target;
    json["reached"] = figure.reached();
  }
  return json;
}

void write_markdown(const std::vector<TaskFigures>& tasks, std::size_t seeds, std::ostream& out) {
  out << fmt::format("Medians over {} seeds, defaults only; {}; {}.\n", seeds, machine(), today());
  for (const TaskFigures& task : tasks) {
    out << fmt::format("\n**{}**\n\n`{}`\n\n| measure | asked | median | seeds | |\n|---|---|---|---|---|\n",
                       task.title, task.command);
    for (const Figure& figure : task.figures) {
      std::vector<std::string> values;
      for (const double value : figure.values) values.push_back(shown(value));
      const char* verdict = !figure.target ? "" : figure.reached() ? "reached" : "**missed**";
      out << fmt::format("| {} | {} | {} | {} | {} |\n", figure.name, asked(figure), shown(figure.median()),
                         fmt::join(values, ", "), verdict);
    }
  }
}

}  // namespace

double Figure::median() const {
  std::vector<double> sorted = values;
  const bool low_is_good = !at_least;
  for (double& value : sorted) {
    // What was never reached is worse than any value.
    if (std::isnan(value)) value = (low_is_good ? 1 : -1) * std::numeric_limits<double>::infinity();
  }
  std::sort(sorted.begin(), sorted.end());
  const std::size_t half = sorted.size() / 2;
  const double middle = sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  return std::isfinite(middle) ? middle : std::numeric_limits<double>::quiet_NaN();
}

bool Figure::reached() const {
  if (!target) return true;
  return at_least ? median() >= *target : median() <= *target;
}

void write_report(const std::vector<TaskFigures>& tasks, std::size_t seeds,
                  const std::filesystem::path& folder) {
  std::ofstream markdown(folder / "practical.md");
  write_markdown(tasks, seeds, markdown);
  nlohmann::json json{
      {"machine", machine()}, {"date", today()}, {"seeds", seeds}, {"tasks", nlohmann::json::array()}};
  for (const TaskFigures& task : tasks) {
    nlohmann::json figures = nlohmann::json::array();
    for (const Figure& figure : task.figures) figures.push_back(to_json(figure));
    json["tasks"].push_back({{"title", task.title}, {"command", task.command}, {"figures", figures}});
  }
  std::ofstream(folder / "practical.json") << json.dump(2) << '\n';
}

}  // namespace adbo::bench
