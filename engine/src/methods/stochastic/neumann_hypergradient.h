#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "methods/synchronous/rounds.h"

namespace adbo::detail {

/// The hypergradient estimated at any (x, y) by a Neumann series:
///   q = eta sum_{k=0}^{Q} r_k,   r_0 = grad_y G,   r_{k+1} = r_k - eta H_k r_k,
///   estimate = grad_x G - (d2 g/dx dy) q,
/// with a batch of its own for G, for every H_k = d2 g/dy dy and for the cross product. In expectation over
/// the batches q falls short of H^-1 grad_y G by (I - eta H)^{Q+1} H^-1 grad_y G.
class NeumannHypergradient {
 public:
  /// `terms`: Q >= 1, Hessian products of an estimate. `rounds` must outlive the object.
  NeumannHypergradient(Rounds& rounds, std::int64_t terms);

  /// Draws that an estimate uses, one after the other.
  [[nodiscard]] std::uint64_t draws() const { return terms_ + 2; }
  /// Where to estimate, and with which batches: the draws from `first` on.
  struct At {
    std::span<const double> upper, lower;  ///< x [n], y [m]
    const BatchSampler& sampler;
    BatchDraws first;
  };
  /// out [n]. `step`: eta. May throw RoundEnded.
  void estimate(const At& at, double step, std::span<double> out);

  /// The last product of the last estimate, with what it was a product of.
  [[nodiscard]] std::span<const double> last_direction() const { return last_direction_; }
  [[nodiscard]] std::span<const double> last_product() const { return product_; }
  /// G as the last estimate found it.
  [[nodiscard]] double upper_value() const { return upper_value_; }

 private:
  Rounds& rounds_;
  std::uint64_t terms_;
  double upper_value_ = 0;
  std::vector<double> last_direction_;                 ///< r_{Q-1}, [m]
  std::vector<double> remainder_, product_, adjoint_;  ///< r_k, H_k r_k, q, [m]
  std::vector<double> cross_;                          ///< [n]
};

}  // namespace adbo::detail
