#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace adbo::detail {

/// An inverse Hessian known by its latest secant pairs (limited-memory BFGS), for gradients that are
/// estimates: pairs without clearly positive curvature are left out. Sized once, no allocation later.
class InverseSecants {
 public:
  InverseSecants(std::size_t dim, std::size_t memory);

  /// The gradient at a point; makes a pair with the point before. Whether the pair was taken.
  bool see(std::span<const double> point, std::span<const double> gradient);
  /// vector <- H vector within the coordinates marked free (by the pairs' parts there); the others become 0.
  void apply(std::span<const std::uint8_t> free, std::span<double> vector);
  [[nodiscard]] bool empty() const { return count_ == 0; }

 private:
  struct Pair {
    std::vector<double> step, change;  ///< of the point, of the gradient
  };
  /// The k-th newest.
  [[nodiscard]] const Pair& newest(std::size_t k) const {
    return pairs_[(next_ + pairs_.size() - 1 - k) % pairs_.size()];
  }

  std::vector<Pair> pairs_;  ///< a ring
  std::size_t next_ = 0, count_ = 0;
  std::vector<double> point_, gradient_;
  bool has_point_ = false;
  std::vector<double> weights_;  ///< of the two-loop recursion, [memory]
};

}  // namespace adbo::detail
