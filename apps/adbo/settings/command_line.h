#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "settings/comparison.h"
#include "settings/settings.h"

namespace adbo::app {

enum class CommandName { kClean, kTune, kRun, kCompare, kReport, kResume, kInfo };

/// A parsed command line: which command, and what it was given.
struct CommandLine {
  /// Nothing to run: --help or --version, whose text is `text`.
  std::optional<CommandName> command;
  std::string text;
  SettingSources sources;
  std::string config_path;       ///< of `run`, or of --config
  ComparisonRequest comparison;  ///< of `compare`
  std::string report_folder;     ///< of `report`
  std::string run_folder;        ///< of `resume`
  bool info_options = false;
  bool info_json = false;
};

/// UsageError for anything that cannot be understood, with the nearest flag or command.
[[nodiscard]] CommandLine parse_command_line(const std::vector<std::string>& arguments);

}  // namespace adbo::app
