#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "adbo/problem.h"
#include "adbo/state_archive.h"

namespace adbo::detail {

/// Solves with P, which stands for the lower Hessian, or with P + damping I. Fed by what the workers send of
/// their curvature and by the Hessian products that are seen.
class Preconditioner {
 public:
  virtual ~Preconditioner() = default;

  /// Worker `worker`'s newest block or diagonal; takes effect at the next refresh().
  virtual void set_curvature(std::size_t worker, std::span<const double> curvature) = 0;
  /// What the workers' blocks leave out, the same for all of them: a diagonal [m]; takes effect at the next
  /// refresh(). Of blocks alone.
  virtual void set_common_curvature(std::span<const double> /*diagonal*/) {}
  /// Without the worker's; takes effect at the next refresh().
  virtual void drop(std::size_t worker) = 0;
  /// product = Hu was seen.
  virtual void see_product(std::span<const double> u, std::span<const double> product) = 0;
  /// Makes P of what has come since. P + damping I may have a damping that is off by a tenth: the solves only
  /// precondition.
  virtual void refresh(double damping) = 0;

  /// P's mean eigenvalue; 0 before anything is known of the curvature: solving then leaves vectors as they
  /// are.
  [[nodiscard]] virtual double mean_curvature() const = 0;
  [[nodiscard]] bool is_known() const { return mean_curvature() > 0; }
  /// An estimate of P's largest eigenvalue; 0 before anything is known.
  [[nodiscard]] virtual double largest_curvature() = 0;
  /// vector [m] <- P^-1 vector.
  virtual void solve(std::span<double> vector) const = 0;
  /// vector [m] <- (P + damping I)^-1 vector.
  virtual void solve_damped(std::span<double> vector) const = 0;
  /// out [m] += the mean of the workers' blocks on each piece of `vector` [m]. Of blocks alone.
  virtual void add_mean_block_product(std::span<const double> /*vector*/, std::span<double> /*out*/) const {}
  /// Between refresh() and the next set_curvature().
  virtual void persist(StateArchive& archive) = 0;
};

/// Of the form that common_curvature_form() finds:
/// - blocks: P is the mean of the workers' blocks (1/N) sum_i B_i [b x b] on each of the m / b pieces of a
///   vector;
/// - diagonals: P = s D, D their mean on each piece and s twice the largest ||D^-1/2 H u|| / ||D^1/2 u|| that
///   Hessian products have shown of late;
/// - nothing: the same with D = I.
/// To blocks a common curvature is added, its largest over the pieces.
[[nodiscard]] std::unique_ptr<Preconditioner> make_preconditioner(const Problem& problem);

}  // namespace adbo::detail
