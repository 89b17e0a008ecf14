#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace adbo::kernels {

/// An inverse Hessian known by its latest secant pairs: limited-memory BFGS (Nocedal and Wright, Numerical
/// Optimization, algorithm 7.4). Sized once, no allocation later.
class SecantPairs {
 public:
  /// A pair whose cosine between step and change is not above `least_cosine` is left out: its curvature is
  /// negative, or may be nothing but the gradient's error.
  SecantPairs(std::size_t dim, std::size_t memory, double least_cosine);

  void clear() { used_ = 0; }
  [[nodiscard]] bool empty() const { return used_ == 0; }
  /// The move from one point to another and the gradients there, all [dim]; whether the pair was taken.
  bool remember(std::span<const double> from, std::span<const double> gradient_from,
                std::span<const double> to, std::span<const double> gradient_to);
  /// vector <- H vector; without pairs it stays. With `free` [dim] only within the coordinates marked there,
  /// by the pairs' parts whose curvature is positive there; the others stay. With `metric` [dim], positive,
  /// the matrix that the pairs correct is a multiple of diag(metric), which is applied without pairs too;
  /// without, of the identity.
  void apply(std::span<double> vector, std::span<const std::uint8_t> free = {},
             std::span<const double> metric = {});

  /// Hands the pairs to an archive that carries state.
  template <class Archive>
  void persist(Archive& archive) {
    archive(next_, used_);
    archive.require(next_ < pairs_.size() && used_ < pairs_.size(), "more secant pairs than are kept");
    for (Pair& pair : pairs_) archive(pair.step, pair.change);
  }

 private:
  struct Pair {
    std::vector<double> step, change;  ///< of the point, of the gradient
    double inverse_curvature = 0;      ///< 1 / step.change within the free coordinates; 0: left out there
    double share = 0;
  };
  [[nodiscard]] Pair& newest(std::size_t k) {
    return pairs_[(next_ + pairs_.size() - 1 - k) % pairs_.size()];
  }
  [[nodiscard]] bool is_curved(double product, double step_square, double change_square) const;

  std::vector<Pair> pairs_;  ///< a ring of memory + 1: a pair is looked at before it replaces the oldest
  std::size_t next_ = 0, used_ = 0;
  double least_cosine_;
};

}  // namespace adbo::kernels
