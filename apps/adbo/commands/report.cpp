#include "commands/report.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <sstream>
#include <string_view>
#include <utility>

#include "io/atomic_file.h"
#include "output/summary_json.h"
#include "report/page.h"
#include "settings/saved_run.h"

namespace adbo::app {
namespace {

namespace fs = std::filesystem;

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file) throw DataError(fmt::format("{}: cannot be read", path.string()));
  return text.str();
}

/// A JSON object that has what every file of this kind has.
Json read_json(const fs::path& path, std::initializer_list<const char*> keys) {
  Json json = Json::parse(read_text(path), nullptr, false);
  if (!json.is_object()) throw DataError(fmt::format("{}: no JSON object as adbo writes it", path.string()));
  for (const char* const key : keys) {
    if (!json.contains(key))
      throw DataError(fmt::format("{}: \"{}\" is missing: not as adbo writes it", path.string(), key));
  }
  return json;
}

/// Notes the file where it is not there.
bool is_there(const fs::path& path, std::string_view what, ReportInput& input) {
  if (fs::is_regular_file(path)) return true;
  input.missing.push_back(fmt::format("{}: {} is not there", what, path.string()));
  return false;
}

void read_trace(const fs::path& folder, ReportSeries& series, ReportInput& input) {
  const fs::path path = folder / "trace.csv";
  if (is_there(path, "Curves of " + series.name, input))
    series.traces.push_back(TraceFile::read(path.string()));
}

void read_gallery(const fs::path& folder, const std::string& name, ReportInput& input) {
  const fs::path path = folder / "gallery.json";
  if (!is_there(path, "Suspect rows of " + name, input)) return;
  input.galleries.push_back({name, read_json(path, {"suspects", "rows"})});
}

/// Pictures make up most of a page: it has those of some methods.
void add_gallery(const fs::path& folder, const std::string& name, ReportInput& input) {
  if (input.galleries.size() < kMostGalleries) {
    read_gallery(folder, name, input);
    return;
  }
  input.missing.push_back(
      fmt::format("Suspect rows of {}: the page has those of the first {} rows of the table; these are in {}",
                  name, kMostGalleries, (folder / "suspects.csv").string()));
}

/// A folder of a comparison is a name within it: what leads elsewhere is not followed.
bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos;
}

ReportInput read_comparison(const fs::path& folder) {
  ReportInput input;
  input.table = read_json(folder / "table.json", {"problem", "rows", "columns", "data", "versions"});
  const bool has_suspects = input.table.at("problem") == "clean";
  for (const Json& row : input.table.at("rows")) {
    ReportSeries series{row.at("method").get<std::string>(), {}};
    for (const Json& run : row.at("runs")) {
      const std::string name = run.at("folder").get<std::string>();
      if (!is_plain_name(name)) continue;
      if (run.at("status") == "refused") continue;  // it left nothing
      if (run.at("status") != "baseline") read_trace(folder / name, series, input);
      if (has_suspects && run.at("repeat") == 1) add_gallery(folder / name, series.name, input);
    }
    if (!series.traces.empty()) input.series.push_back(std::move(series));
  }
  return input;
}

ReportInput read_run(const fs::path& folder) {
  ReportInput input;
  input.summary = read_json(folder / "summary.json", {"problem", "method", "status", "iterations", "words",
                                                      "metrics", "config", "counts", "data", "versions"});
  ReportSeries series{input.summary.at("method").get<std::string>(), {}};
  if (input.summary.at("status") != "baseline") read_trace(folder, series, input);
  if (input.summary.at("problem") == "clean") read_gallery(folder, series.name, input);
  input.series.push_back(std::move(series));
  return input;
}

std::string page_of(const fs::path& folder) {
  for (const char* const name : {"table.json", "summary.json"}) {
    const fs::path path = folder / name;
    if (!fs::is_regular_file(path)) continue;
    try {
      return report_page(name == std::string_view("table.json") ? read_comparison(folder) : read_run(folder));
    } catch (const Json::exception& error) {
      throw DataError(
          fmt::format("{} (or a file beside it): not as adbo writes it: {}", path.string(), error.what()));
    }
  }
  if (fs::is_regular_file(folder / kSavedRunFile)) {
    throw UsageError(
        fmt::format("{}: holds a run or comparison that is not over: if nothing goes on with it now, "
                    "adbo resume {} does",
                    folder.string(), folder.string()));
  }
  throw UsageError(fmt::format("{}: neither a run (summary.json) nor a comparison (table.json) is there",
                               folder.string()));
}

}  // namespace

ExitCode write_report(const std::string& folder, const Console& console) {
  const fs::path path = fs::path(folder) / "report.html";
  io::write_file(path.string(), page_of(folder));
  console.deliver(path.string() + "\n");
  return ExitCode::kFinished;
}

}  // namespace adbo::app
