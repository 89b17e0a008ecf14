#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tasks.h"

namespace adbo::bench {

/// One measure of one task over the seeds. NaN: never reached.
struct Figure {
  std::string name;
  std::vector<double> values;
  std::optional<double> target;
  bool at_least = true;

  [[nodiscard]] double median() const;
  [[nodiscard]] bool reached() const;  ///< true where nothing is asked
};

struct TaskFigures {
  std::string title, command;
  std::vector<Figure> figures;
};

/// practical.md and practical.json in `folder`, with machine and date.
void write_report(const std::vector<TaskFigures>& tasks, std::size_t seeds,
                  const std::filesystem::path& folder);

}  // namespace adbo::bench
