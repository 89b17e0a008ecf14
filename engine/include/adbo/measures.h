#pragma once
// Honest measures: what an upper variable is really worth, whatever the method that found it.

#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "adbo/problem.h"

namespace adbo {

/// Whether a result is judged by models that are fitted to the end (kFull), or by the run's own lower
/// variable alone, which costs next to nothing and leaves out what needs another model.
enum class MeasureDepth { kFull, kQuick };

/// What a measure throws whose ResolveOptions::give_up ended it.
class GivenUp : public std::runtime_error {
 public:
  GivenUp() : std::runtime_error("a measure was given up before it was done") {}
};

/// How far, and with how many threads, a lower level is re-solved.
struct ResolveOptions {
  double gradient_tolerance = 1e-8;  ///< on the Euclidean norm of the gradient of (1/N) sum_i g_i
  std::int64_t max_evaluations = 2000;
  std::int64_t threads = 0;  ///< 0: all processors
  /// Asked before every evaluation, on the calling thread: true ends the measure by GivenUp. Empty: never.
  std::function<bool()> give_up{};
};

struct ValueFunction {
  double upper_objective = 0;  ///< (1/N) sum_i G_i(x, y*(x)), the value function F(x)
  double lower_objective = 0;  ///< (1/N) sum_i g_i(x, y*(x))
  double gradient_norm = 0;    ///< reached by the re-solve
  std::int64_t evaluations = 0;
  bool converged = false;     ///< to the tolerance; otherwise `reason` says why not
  std::string_view reason;    ///< "converged", "evaluation limit", "stalled", "unbounded", "not finite"
  std::vector<double> lower;  ///< y*(x), [m]
  double seconds = 0;
};

/// Re-solves the lower level at `upper` [n] from `lower_start` [m] (zeros when empty) and evaluates the upper
/// objective there. The same bits for any number of threads.
///
/// Where the lower level turns out unbounded there is no y*: the upper objective is NaN and the lower one
/// -infinity. Throws std::invalid_argument when the problem is not valid or a size is wrong, GivenUp, and
/// whatever an objective throws.
[[nodiscard]] ValueFunction value_function(Problem& problem, std::span<const double> upper,
                                           std::span<const double> lower_start,
                                           const ResolveOptions& options);

/// Area under the ROC curve of `score` (higher = more likely positive), ties counted half; NaN when one class
/// is empty or a score is NaN. Throws std::invalid_argument when the sizes differ, as detection_scores()
/// does.
[[nodiscard]] double area_under_curve(std::span<const double> score, std::span<const std::uint8_t> positive);

struct DetectionScores {
  double precision = 0, recall = 0, f1 = 0;  ///< 0 where undefined
};
[[nodiscard]] DetectionScores detection_scores(std::span<const std::uint8_t> predicted,
                                               std::span<const std::uint8_t> actual);

}  // namespace adbo
