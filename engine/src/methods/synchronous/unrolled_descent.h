#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "methods/synchronous/rounds.h"

namespace adbo::detail {

/// y_{k+1} = y_k - step grad_y g(x, y_k) for k = 0 ... K-1 with the mean lower objective, and the reverse of
/// it. The iterates are kept: (K + 1) m numbers. One round per step, and one per step of the reverse.
class UnrolledDescent {
 public:
  /// `steps`: K >= 1.
  UnrolledDescent(Rounds& rounds, std::int64_t steps);

  /// From y_0 = `start` [m]; returns y_K, valid until the next call. `upper` has to stay until the reverse.
  std::span<const double> run(std::span<const double> upper, std::span<const double> start, double step);
  /// g(x, y_0) of the last run.
  [[nodiscard]] double start_value() const { return start_value_; }

  /// Adds (dy_K/dx)' p to `gradient` [n]: p_K = p, p_k = p_{k+1} - step (d2 g/dy dy)(x, y_k) p_{k+1}, and
  /// -step (d2 g/dx dy)(x, y_k) p_{k+1} for every k. Overwrites `adjoint` [m], which holds p, with p_0.
  void reverse(std::span<double> adjoint, std::span<double> gradient);

 private:
  Rounds& rounds_;
  std::span<const double> upper_;
  double step_ = 0, start_value_ = 0;
  std::vector<std::vector<double>> iterates_;    ///< y_0 ... y_K
  std::vector<double> product_, cross_product_;  ///< [m], [n]
};

}  // namespace adbo::detail
