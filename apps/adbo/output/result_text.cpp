#include "output/result_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "io/text.h"

namespace adbo::app {
namespace {

std::string with_spaces(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

}  // namespace

std::string result_text(const RunFacts& facts, const std::string& folder) {
  std::string text =
      fmt::format("{}, {}\n", to_string(facts.settings->task().problem), facts.summary->one_line());
  for (const auto& [name, value] : facts.metrics) {
    if (std::isfinite(value)) text += fmt::format("  {:<32}{:.6g}\n", with_spaces(name), value);
  }
  text += fmt::format("  {:<32}{:.3g}\n", "upper change max", facts.summary->upper_change_max);
  for (const std::string& sentence : facts.words) text += sentence + "\n";
  text += fmt::format("Results are in {} (measuring took {:.1f} s).\n", io::detail::printable(folder),
                      facts.measure_seconds);
  return text;
}

}  // namespace adbo::app
