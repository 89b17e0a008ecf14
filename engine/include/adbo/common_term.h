#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace adbo {

class WorkerObjective;

/// A term r(x, y) = sum_k r_k(x, y_k) that the lower objectives of all workers have in common, and the only
/// one in which x enters them: g_i(x, y) = d_i(y) + r(x, y). A regularizer whose coefficients are learned is
/// one.
///
/// The workers' objectives stay what they are, r included. A method that knows of r can bring a contribution
/// up to date that was computed for an x of long ago (docs/practical.md, "Late contributions").
///
/// Shapes: x [n], the whole upper variable; y and u [m]. Outputs are overwritten. Threads: an object may keep
/// scratch memory and is used by one thread at a time; clones are used at the same time.
class CommonTerm {
 public:
  virtual ~CommonTerm() = default;
  /// out_y [m] = grad_y r(x, y).
  virtual void gradient(std::span<const double> x, std::span<const double> y, std::span<double> out_y) = 0;
  /// out_y [m] = the diagonal of (d2 r / dy dy)(x, y), which is all of it.
  virtual void curvature(std::span<const double> x, std::span<const double> y, std::span<double> out_y) = 0;
  /// out_x [n] = (d2 r / dx dy)(x, y) u, that is d/dx of <grad_y r(x, y), u>.
  virtual void cross_product(std::span<const double> x, std::span<const double> y, std::span<const double> u,
                             std::span<double> out_x) = 0;
  [[nodiscard]] virtual std::unique_ptr<CommonTerm> clone() const = 0;
};

/// Relative errors of a common term along random directions: its curvature and its cross product against
/// central differences of its gradient, and its cross product against the lower objective's, which must not
/// depend on x otherwise.
struct CommonTermCheck {
  double curvature = 0, cross = 0, objective = 0;
  [[nodiscard]] double worst() const;
};
/// At the given point, along `directions` seeded random directions; x [n], y [m].
[[nodiscard]] CommonTermCheck check_common_term(CommonTerm& term, WorkerObjective& objective,
                                                std::span<const double> x, std::span<const double> y,
                                                int directions, std::uint64_t seed);

}  // namespace adbo
