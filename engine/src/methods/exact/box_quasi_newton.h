#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace adbo::detail {

/// L-BFGS directions within the box lowest <= v_j <= highest (bounds may be infinite).
///
/// Two-metric projection (Bertsekas, 1982): coordinates at a bound that the gradient pushes against are held,
/// the quasi-Newton matrix acts on the others alone, and steps follow the projected arc. The held set
/// includes coordinates within a small distance of their bound, no more than the projected gradient's norm,
/// so that it settles.
class BoxQuasiNewton {
 public:
  BoxQuasiNewton(std::size_t dimension, double lowest, double highest);

  /// v <- the nearest point of the box.
  void project(std::span<double> upper) const;
  /// ||v - P(v - gradient)||, zero at the stationary points of the box.
  [[nodiscard]] double projected_norm(std::span<const double> upper, std::span<const double> gradient) const;
  /// A direction [n] along whose projected arc the function falls, for a start.
  void direction(std::span<const double> upper, std::span<const double> gradient, std::span<double> out);
  /// out = P(upper + step direction).
  void move(std::span<const double> upper, double step, std::span<const double> direction,
            std::span<double> out) const;

  /// Remembers a move; one without positive curvature is left out.
  void remember(std::span<const double> upper_change, std::span<const double> gradient_change);
  [[nodiscard]] bool empty() const { return used_ == 0; }
  void forget() { used_ = 0; }

 private:
  static constexpr std::size_t kMemory = 30;

  struct Pair {
    std::vector<double> s, y;
    double inverse_sy = 0, share = 0;
  };

  [[nodiscard]] double projected(double upper) const;
  void mark_free(std::span<const double> upper, std::span<const double> gradient);
  [[nodiscard]] double free_dot(std::span<const double> a, std::span<const double> b) const;
  void add_free(double factor, std::span<const double> x, std::span<double> y) const;
  Pair& recent(std::size_t age) { return pairs_[(next_ + kMemory - 1 - age) % kMemory]; }

  double lowest_, highest_;
  std::vector<std::uint8_t> is_free_;  ///< [n]
  std::vector<Pair> pairs_;
  std::size_t next_ = 0, used_ = 0;
};

}  // namespace adbo::detail
