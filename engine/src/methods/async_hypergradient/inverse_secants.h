#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace adbo::detail {

/// An inverse Hessian known by its latest secant pairs (limited-memory BFGS), for gradients that are
/// estimates: pairs without positive curvature are left out. Sized once, no allocation later.
class InverseSecants {
 public:
  InverseSecants(std::size_t dim, std::size_t memory);

  void clear();
  /// The gradient at a point; makes a pair with the point before. Whether the pair was taken.
  bool see(std::span<const double> point, std::span<const double> gradient);
  /// vector <- H vector on the coordinates marked free; the others become 0.
  void apply(std::span<const std::uint8_t> free, std::span<double> vector);
  [[nodiscard]] bool empty() const { return count_ == 0; }

 private:
  struct Pair {
    std::vector<double> step, change;
  };
  [[nodiscard]] Pair& newest(std::size_t k) {
    return pairs_[(next_ + pairs_.size() - 1 - k) % pairs_.size()];
  }

  std::vector<Pair> pairs_;  ///< a ring
  std::size_t next_ = 0, count_ = 0;
  std::vector<double> point_, gradient_;
  bool has_point_ = false;
  std::vector<double> weights_;  ///< of the two-loop recursion, [memory]
};

}  // namespace adbo::detail
