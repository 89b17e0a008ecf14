#pragma once

#include <cstdint>
#include <span>

#include "adbo/options.h"
#include "adbo/state_archive.h"
#include "methods/synchronous/rounds.h"

namespace adbo::detail {

/// The largest eigenvalue L of the mean lower Hessian at (x, y), from below: power iterations from a seeded
/// start, one round each, until they gain less than 1% or kMostPowerIterations are done. 0 where the Hessian
/// is zero.
[[nodiscard]] double largest_lower_eigenvalue(Rounds& rounds, std::span<const double> upper,
                                              std::span<const double> lower, std::uint64_t seed);
inline constexpr int kMostPowerIterations = 30;
/// The largest over the workers of that of their own lower Hessians, at the same cost; no messages are
/// counted.
[[nodiscard]] double largest_local_eigenvalue(Rounds& rounds, std::span<const double> upper,
                                              std::span<const double> lower, std::uint64_t seed);

/// Whose curvature an automatic step has to be short enough for.
enum class StepCurvature {
  kMean,   ///< of the mean objective
  kLocal,  ///< of every worker's own, for methods that step along one
  /// The same, and half as long: for steps along trackers of a graph's mean, which lag by an exchange; at 1 /
  /// L they are at the edge of what is stable.
  kTracked,
};

/// The steps of the methods that work in rounds, with the automatic ones filled in and the decay applied.
class StepSizes {
 public:
  /// `options` must outlive the object.
  StepSizes(const Options& options, StepCurvature curvature)
      : options_(options),
        curvature_(curvature),
        lower_(options.step_lower),
        adjoint_(options.step_adjoint) {}

  /// Fills in automatic steps by the curvature at (x, y), the first time it is called; costs no round where
  /// all steps are given.
  void settle(Rounds& rounds, std::span<const double> upper, std::span<const double> lower);
  /// Takes notice of a product of the lower Hessian that the method has made: where it shows a larger
  /// eigenvalue than any before, automatic steps become shorter. What becomes unstable when the Hessian has
  /// grown shows itself in this way before it does harm.
  void see_product(std::span<const double> direction, std::span<const double> product);
  /// L as far as it is known, where step_lower is automatic and settled; 0 otherwise, or where the Hessian is
  /// zero.
  [[nodiscard]] double largest_eigenvalue() const { return largest_eigenvalue_; }

  /// At iteration t.
  [[nodiscard]] double upper(std::int64_t t) const { return decay(t) * options_.step_upper; }
  [[nodiscard]] double lower(std::int64_t t) const { return decay(t) * lower_; }
  [[nodiscard]] double adjoint(std::int64_t t) const { return decay(t) * adjoint_; }
  void persist(StateArchive& archive) { archive(lower_, adjoint_, largest_eigenvalue_); }

 private:
  /// (1 + t)^-step_decay
  [[nodiscard]] double decay(std::int64_t t) const;

  const Options& options_;
  StepCurvature curvature_;
  double lower_, adjoint_;  ///< 0: not settled
  double largest_eigenvalue_ = 0;
};

}  // namespace adbo::detail
