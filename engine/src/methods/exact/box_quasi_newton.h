#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "adbo/kernels/secant_pairs.h"
#include "adbo/state_archive.h"

namespace adbo::detail {

/// L-BFGS directions within the box lowest <= v_j <= highest (bounds may be infinite).
///
/// Two-metric projection (Bertsekas, 1982): coordinates at a bound that the gradient pushes against are held,
/// the quasi-Newton matrix acts on the others alone, and steps follow the projected arc. The held set
/// includes coordinates within a small distance of their bound, no more than the projected gradient's norm,
/// so that it settles.
///
/// Where v_j acts through something like e^(v_j), as coefficients and weights do, F is nearly flat on one
/// side and d2F/dv_j2 is as large as |dF/dv_j|: the matrix that the pairs correct is therefore a multiple of
/// the inverse of the latest slopes, diag(1 / (slope_j + kLeastSlope)), slope_j being a running mean of
/// |dF/dv_j| / max_k |dF/dv_k| while the gradient is not small. Without it every coordinate of small slope
/// needs a pair of its own.
class BoxQuasiNewton {
 public:
  BoxQuasiNewton(std::size_t dimension, double lowest, double highest);

  /// ||v - P(v - gradient)||, zero at the stationary points of the box.
  [[nodiscard]] double projected_norm(std::span<const double> upper, std::span<const double> gradient) const;
  /// A direction [n] along whose projected arc the function falls, for a start.
  void direction(std::span<const double> upper, std::span<const double> gradient, std::span<double> out);
  /// out = P(upper + step direction).
  void move(std::span<const double> upper, double step, std::span<const double> direction,
            std::span<double> out) const;

  /// Remembers a move and the gradients at its ends; one without positive curvature is left out.
  void remember(std::span<const double> upper_from, std::span<const double> gradient_from,
                std::span<const double> upper_to, std::span<const double> gradient_to) {
    pairs_.remember(upper_from, gradient_from, upper_to, gradient_to);
  }
  [[nodiscard]] bool empty() const { return pairs_.empty(); }
  void forget() {
    pairs_.clear();
    has_slopes_ = false;
  }
  void persist(StateArchive& archive) { archive(pairs_, slopes_, has_slopes_, largest_slope_); }

 private:
  static constexpr std::size_t kMemory = 30;

  [[nodiscard]] double projected(double upper) const;
  void mark_free(std::span<const double> upper, std::span<const double> gradient);
  void average_slopes(std::span<const double> gradient);

  double lowest_, highest_;
  std::vector<std::uint8_t> is_free_;  ///< [n]
  kernels::SecantPairs pairs_;
  std::vector<double> slopes_;  ///< running means, [n]
  bool has_slopes_ = false;
  std::vector<double> metric_;  ///< of the direction under way, [n]
  double largest_slope_ = 0;    ///< of all that were seen
};

}  // namespace adbo::detail
