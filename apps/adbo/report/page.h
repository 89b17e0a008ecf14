#pragma once

#include <string>
#include <vector>

#include "output/summary_json.h"
#include "report/trace_file.h"

namespace adbo::app {

struct ReportSeries {
  std::string name;
  std::vector<TraceFile> traces;  ///< one per repeat
};
struct ReportGallery {
  std::string method;
  Json rows;  ///< gallery.json
};
/// Of a comparison the suspects of so many methods are shown.
constexpr std::size_t kMostGalleries = 4;

/// What a report is made of: `summary` of a run or `table` of a comparison, as they stand in the files.
struct ReportInput {
  Json summary, table;
  std::vector<ReportSeries> series;
  std::vector<ReportGallery> galleries;
  std::vector<std::string> missing;  ///< files that were not there, a sentence each
};

/// The page: HTML that is well-formed XML too, with every picture in it, no script and no reference to
/// anything outside. Whatever stands in the files appears as text. Json::exception where a file lacks what
/// adbo writes.
[[nodiscard]] std::string report_page(const ReportInput& input);

}  // namespace adbo::app
