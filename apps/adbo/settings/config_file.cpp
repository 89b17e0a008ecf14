#include "settings/config_file.h"

#include <fmt/format.h>
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include <fstream>
#include <sstream>

#include "support/exit_code.h"

namespace adbo::app {
namespace {

std::string place_of(const std::string& source, const toml::source_region& region) {
  return fmt::format("{}:{}:{}", source, region.begin.line, region.begin.column);
}

std::string text_of(const toml::node& node, std::string_view key, const std::string& place) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* integer = node.as_integer()) return fmt::format("{}", integer->get());
  if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  throw UsageError(fmt::format("{}: {}: expected a number, a text, true or false", place, key));
}

void collect(const toml::table& table, const std::string& source, bool top, std::vector<Assignment>& result) {
  for (const auto& [key, node] : table) {
    const std::string place = place_of(source, key.source());
    if (const auto* inner = node.as_table()) {
      if (!top)
        throw UsageError(fmt::format("{}: {}: tables within tables are not used here", place, key.str()));
      collect(*inner, source, false, result);
    } else {
      result.push_back({std::string(key.str()), text_of(node, key.str(), place), place});
    }
  }
}

}  // namespace

std::vector<Assignment> parse_config(std::string_view text, const std::string& source) {
  std::vector<Assignment> result;
  try {
    collect(toml::parse(text, source), source, true, result);
  } catch (const toml::parse_error& error) {
    throw UsageError(fmt::format("{}: {}", place_of(source, error.source()), error.description()));
  }
  return result;
}

std::vector<Assignment> read_config_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file) throw UsageError(fmt::format("{}: the configuration file cannot be read", path));
  return parse_config(text.str(), path);
}

}  // namespace adbo::app
