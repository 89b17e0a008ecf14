#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace adbo::bench {

/// What the paper says of the methods of a figure.
enum class Claim {
  kEachBeforeNext,    ///< the first reaches every level before the second, the second before the third, ...
  kFirstBeforeOthers  ///< the first does before each of the others
};

/// One figure of the paper: a comparison, and what it says of the methods' times.
struct PaperFigure {
  std::string name, title;
  std::vector<std::string> arguments;  ///< of `adbo compare`, without --methods, --repeat and --out
  std::vector<std::string> order;      ///< the methods as the claim has them
  Claim claim = Claim::kEachBeforeNext;
  std::string clock;  ///< the trace's column of time
  std::vector<std::filesystem::path> needs;
  /// Runs of the straggler experiment: each method's time with them against its time without.
  bool has_stragglers = false;
};

struct DataFolders {
  std::filesystem::path data, fashion_mnist;
};

[[nodiscard]] std::vector<PaperFigure> paper_figures(const DataFolders& folders);

}  // namespace adbo::bench
