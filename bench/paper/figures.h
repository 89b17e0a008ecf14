#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace adbo::bench {

/// One figure of the paper: a comparison, and the order in which it says the methods come.
struct PaperFigure {
  std::string name, title;
  std::vector<std::string> arguments;  ///< of `adbo compare`, without --methods, --repeat and --out
  std::vector<std::string> order;      ///< the claim: the first reaches every level before the second, ...
  std::string clock;                   ///< the trace's column of time
  std::vector<std::filesystem::path> needs;
  /// Runs of the straggler experiment: each method's time with them against its time without.
  bool has_stragglers = false;
};

struct DataFolders {
  std::filesystem::path data, fashion_mnist;
};

[[nodiscard]] std::vector<PaperFigure> paper_figures(const DataFolders& folders);

}  // namespace adbo::bench
