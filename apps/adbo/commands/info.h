#pragma once

#include <string>

namespace adbo::app {

/// Version, build, instruction set, methods, problems and presets; with `options` the option table instead;
/// with `json` all of it as JSON.
[[nodiscard]] std::string info_text(bool options, bool json);

}  // namespace adbo::app
