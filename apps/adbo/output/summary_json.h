#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adbo/measures.h"
#include "adbo/summary.h"
#include "io/table.h"
#include "output/held_out_facts.h"
#include "settings/settings.h"

namespace adbo::app {

using Json = nlohmann::ordered_json;

/// Names and values of measures; those that are not finite do not apply and are left out of every output.
using Metrics = std::vector<std::pair<std::string_view, double>>;

/// What is known when a run is over.
struct RunFacts {
  const Settings* settings = nullptr;
  const Summary* summary = nullptr;
  std::optional<HeldOutFacts> held_out;
  Metrics metrics;
  double read_seconds = 0;  ///< 0: nothing was read
  double measure_seconds = 0;
  MeasureDepth measured = MeasureDepth::kFull;
  bool is_resumable = false;  ///< it was interrupted, and `adbo resume` goes on with it
  std::vector<std::string> words;
  Json data;
};

/// The object of summary.json: keys and their meaning in docs. Valid JSON whatever the numbers: no NaN, no
/// infinity.
[[nodiscard]] Json summary_json(const RunFacts& facts);
/// Every setting that applies: its value, where it came from, and what an automatic value became.
[[nodiscard]] Json config_json(const Settings& settings, const Options& options_used);
/// Shape, classes with their counts, digest of a file.
[[nodiscard]] Json table_json(const io::Table& table);
/// Library, compiler, libraries it was built with, instruction set.
[[nodiscard]] Json versions_json();
/// Indented text; bytes that are no UTF-8 (a label of some old encoding) are replaced.
[[nodiscard]] std::string json_text(const Json& json);

}  // namespace adbo::app
