#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "adbo/kernels/secant_pairs.h"
#include "adbo/state_archive.h"
#include "methods/running_estimates/estimate_lag.h"

namespace adbo::detail {

/// Whether every coordinate of the upper variable has its own scale, or all share one.
enum class UpperScaling { kPerCoordinate, kCommon };

struct UpperStepSettings {
  UpperScaling scaling = UpperScaling::kPerCoordinate;
  double rate = 0.1;  ///< how far a coordinate moves per step at first, in its own units
  double lowest = 0, highest = 0;
  /// Descent steps before the tail: about as long as they gain more per iteration than quasi-Newton steps do
  /// (docs/practical.md has the measurements).
  std::int64_t descent_moves = 150;
};

/// Moves the upper variable v against an estimated hypergradient, in two phases (docs/practical.md).
///
/// Descent: a step every iteration, each coordinate by its own scale: a mean of the direction over the root
/// of a mean of its square, times a rate that decays as (1 + k/30)^(-1/2). It needs no accuracy and gets near
/// a solution, but ends in a cycle as wide as the estimates lag.
///
/// Tail (per-coordinate scaling only): quasi-Newton steps, each taken when the estimates have caught up with
/// the one before. Where the method stands still, the hypergradient is zero.
class UpperStep {
 public:
  UpperStep(const UpperStepSettings& settings, std::size_t upper_dim);
  /// `direction` [n]: the estimated hypergradient; `upper` [n] is moved, within the bounds.
  void move(std::span<const double> direction, const EstimateLag& lag, std::span<double> upper);
  void persist(StateArchive& archive) {
    archive(rate_, moves_, mean_, square_, secants_, last_upper_, last_direction_, radius_, last_norm_,
            waited_, peak_, part_of_peak_, change_, free_);
  }

 private:
  void descend(std::span<const double> direction, std::span<double> upper);
  void follow_tail(std::span<const double> direction, const EstimateLag& lag, std::span<double> upper);
  [[nodiscard]] bool have_caught_up(const EstimateLag& lag);
  void learn_curvature(std::span<const double> direction, std::span<const double> upper);
  double mark_free(std::span<const double> direction, std::span<const double> upper);
  void adapt_accuracy(double norm);
  void adapt_radius(double norm);
  void propose(std::span<const double> direction);
  void apply_change(std::span<double> upper) const;

  UpperStepSettings settings_;
  double rate_ = 0;         ///< of the latest descent step
  std::int64_t moves_ = 0;  ///< of the descent
  std::vector<double> mean_, square_;

  kernels::SecantPairs secants_;
  std::vector<double> last_upper_, last_direction_;  ///< at the last tail step; meaningless before the first
  double radius_ = 0;                                ///< largest change of a coordinate in the next tail step
  double last_norm_ = 0;            ///< of the free direction at the last tail step; 0: none yet
  std::int64_t waited_ = 0;         ///< iterations since then
  EstimateLag peak_;                ///< largest lags since then
  double part_of_peak_;             ///< to which the residuals have to fall
  std::vector<double> change_;      ///< proposed, [n]
  std::vector<std::uint8_t> free_;  ///< coordinates that no bound holds back, [n]
};

}  // namespace adbo::detail
