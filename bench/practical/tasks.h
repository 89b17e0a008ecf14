#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "command_run.h"

namespace adbo::bench {

/// Where the data is; a task whose files are not there is left out with a message.
struct DataFolders {
  std::filesystem::path data;           ///< folders mnist, cifar10, letter, ...
  std::filesystem::path fashion_mnist;  ///< of Debian's package dataset-fashion-mnist
};

/// One figure asked of a task.
struct Measure {
  std::string name;
  /// NaN: never reached.
  std::function<double(const CommandRun&)> value;
  std::optional<double> target{};
  bool at_least = true;  ///< the target is a lower bound; otherwise an upper one
};

struct Task {
  std::string name, title;
  std::vector<std::string> arguments;        ///< of the adbo command, without seed and output
  std::vector<std::filesystem::path> needs;  ///< files
  std::vector<Measure> measures;             ///< of the run with these arguments
  /// A second run whose lower level is re-solved now and then, for the times at which values are reached.
  std::vector<std::string> timing_arguments{};
  std::vector<Measure> timing_measures{};
  /// Of the second run: virtual seconds to a value; with three stragglers over without.
  std::optional<Measure> straggler_time{};
};

[[nodiscard]] std::vector<Task> practical_tasks(const DataFolders& folders);

}  // namespace adbo::bench
