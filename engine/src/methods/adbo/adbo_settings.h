#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "adbo/kernels/unrolled_rounds.h"
#include "adbo/options.h"
#include "adbo/problem.h"

namespace adbo::detail {

/// Where x_i lives: which coordinates of the upper variable a worker carries a copy of.
struct LocalUpper {
  std::size_t begin = 0;
  std::size_t size = 0;  ///< n_i; 0 where x_i = v is eliminated
};

/// General-form consensus eliminates x_i = v and theta_i = 0 where no upper objective depends on x.
[[nodiscard]] inline bool eliminates_upper_copies(const Problem& problem, const Options& options) {
  if (options.consensus == Consensus::kFull) return false;
  for (std::size_t i = 0; i < problem.num_workers(); ++i) {
    if (problem.worker(i).upper_depends_on_x()) return false;
  }
  return true;
}

[[nodiscard]] inline LocalUpper local_upper(const Problem& problem, const Options& options,
                                            std::size_t worker) {
  if (options.consensus == Consensus::kFull) return {0, problem.upper_dim()};
  if (eliminates_upper_copies(problem, options)) return {};
  return {problem.support(worker).begin, problem.support(worker).size};
}

[[nodiscard]] inline kernels::RoundSteps round_steps(const Options& options) {
  return {.lower_local = options.step_lower_local,
          .lower_consensus = options.step_lower_consensus,
          .lower_dual = options.step_lower_dual,
          .penalty = options.lower_penalty};
}

/// c_t = max(floor, 1 / (eta (t+1)^(1/4))), or a constant.
[[nodiscard]] inline double regularization_at(const Options& options, std::int64_t t, double step,
                                              double floor, double constant) {
  if (options.regularization == RegularizationSchedule::kConstant) return constant;
  return std::fmax(floor, 1 / (step * std::pow(static_cast<double>(t) + 1, 0.25)));
}

}  // namespace adbo::detail
