#include "commands/report.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <ostream>
#include <sstream>
#include <vector>

#include "io/atomic_file.h"
#include "output/summary_json.h"
#include "report/page.h"

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

Json read_json(const fs::path& path) {
  Json json = Json::parse(read_text(path), nullptr, false);
  if (!json.is_object()) throw DataError(fmt::format("{}: no JSON object as adbo writes it", path.string()));
  return json;
}

Json read_json_if_there(const fs::path& path) { return fs::is_regular_file(path) ? read_json(path) : Json(); }

std::vector<TraceFile> read_trace_if_there(const fs::path& folder) {
  const fs::path path = folder / "trace.csv";
  if (!fs::is_regular_file(path)) return {};
  return {TraceFile::read(path.string())};
}

/// A folder of a comparison is a name within it: what leads elsewhere is not followed.
bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos;
}

ReportInput read_comparison(const fs::path& folder) {
  ReportInput input;
  input.table = read_json(folder / "table.json");
  for (const Json& row : input.table.at("rows")) {
    ReportSeries series{row.at("method").get<std::string>(), {}};
    for (const Json& run : row.at("runs")) {
      const std::string name = run.at("folder").get<std::string>();
      if (!is_plain_name(name)) continue;
      for (TraceFile& trace : read_trace_if_there(folder / name)) series.traces.push_back(std::move(trace));
      if (input.galleries.size() < kMostGalleries && run.at("repeat") == 1) {
        Json gallery = read_json_if_there(folder / name / "gallery.json");
        if (!gallery.is_null()) input.galleries.push_back({series.name, std::move(gallery)});
      }
    }
    if (!series.traces.empty()) input.series.push_back(std::move(series));
  }
  return input;
}

ReportInput read_run(const fs::path& folder) {
  ReportInput input;
  input.summary = read_json(folder / "summary.json");
  input.series.push_back({input.summary.at("method").get<std::string>(), read_trace_if_there(folder)});
  Json gallery = read_json_if_there(folder / "gallery.json");
  if (!gallery.is_null()) input.galleries.push_back({input.series.front().name, std::move(gallery)});
  return input;
}

ReportInput read_folder(const fs::path& folder) {
  if (fs::is_regular_file(folder / "table.json")) return read_comparison(folder);
  if (fs::is_regular_file(folder / "summary.json")) return read_run(folder);
  throw UsageError(fmt::format("{}: neither a run (summary.json) nor a comparison (table.json) is there",
                               folder.string()));
}

}  // namespace

ExitCode write_report(const std::string& folder, const Console& console) {
  const fs::path path = fs::path(folder) / "report.html";
  try {
    io::write_file(path.string(), report_page(read_folder(folder)));
  } catch (const Json::exception& error) {
    throw DataError(fmt::format("{}: a file is not as adbo writes it: {}", folder, error.what()));
  }
  console.out() << path.string() << "\n" << std::flush;
  return ExitCode::kFinished;
}

}  // namespace adbo::app
