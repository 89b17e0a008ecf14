#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace adbo::detail {

/// Whether every coordinate of the upper variable has its own scale, or all share one.
enum class UpperScaling { kPerCoordinate, kCommon };

/// Moves the upper variable against an estimated hypergradient, each coordinate by its own scale: a mean of
/// the direction over the root of a mean of its square, times a rate that decays as (1 + k/30)^(-1/2).
class UpperStep {
 public:
  /// `rate`: how far a coordinate moves per step at first, in its own units.
  UpperStep(const UpperScaling& scaling, std::size_t upper_dim, double rate, double lowest, double highest);
  /// `lag`: how far the running estimates are behind the upper variable, 0 (not at all) to 1 and more. The rate falls
  /// while they are too far behind, and rises again, up to the decaying one.
  void follow_lag(double lag);
  void move(std::span<const double> direction, std::span<double> upper);

 private:
  static constexpr double kLargestChange = 0.5;
  UpperScaling scaling_;
  double first_rate_, rate_, lowest_, highest_;
  std::int64_t moves_ = 0;
  std::vector<double> mean_, square_;
};

}  // namespace adbo::detail
