#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "settings/settings.h"

namespace adbo::app {

/// Reads a TOML file of settings. Keys stand at the top or in tables, whose names only group them ([data],
/// [method]): no table within a table, no arrays. io::InputError-like troubles are UsageErrors that name
/// file, line and column.
[[nodiscard]] std::vector<Assignment> read_config_file(const std::string& path);
/// The same from memory; `source` names the text in messages.
[[nodiscard]] std::vector<Assignment> parse_config(std::string_view text, const std::string& source);

}  // namespace adbo::app
