#pragma once

#include <cstddef>
#include <span>

#include "adbo/batch.h"

namespace adbo {

/// The coordinates of the upper variable that a worker's objectives depend on: [begin, begin + size).
struct UpperSupport {
  std::size_t begin = 0;
  std::size_t size = 0;
};

/// One worker's part of the problem: its upper objective G_i(x, y) and its lower objective g_i(x, y).
///
/// Shapes: x is the worker's part of the upper variable, [support.size]; y is the lower variable, [m].
/// Outputs are overwritten. Threads: the engine never calls one objective from two threads at once, but
/// consecutive calls may come from different threads; an implementation may keep scratch memory and must not
/// keep thread-locals. Errors: a thrown exception or a non-finite result ends the run in order, naming the
/// worker and the iteration.
class WorkerObjective {
 public:
  virtual ~WorkerObjective() = default;

  /// G_i(x, y); grad_x [support.size], grad_y [m]. Where upper_depends_on_x() is false, grad_x is empty.
  virtual double upper(std::span<const double> x, std::span<const double> y, std::span<double> grad_x,
                       std::span<double> grad_y) = 0;
  /// g_i(x, y); grad_y [m].
  virtual double lower(std::span<const double> x, std::span<const double> y, std::span<double> grad_y) = 0;

  /// out_y [m] = (d2 g_i / dy dy)(x, y) u. Default: central differences of lower(), relative accuracy about
  /// 1e-9 of the largest entry at best.
  virtual void lower_hessian_product(std::span<const double> x, std::span<const double> y,
                                     std::span<const double> u, std::span<double> out_y);
  /// out_x [support.size] = (d2 g_i / dx dy)(x, y) u, that is d/dx of <grad_y g_i(x, y), u>. Default: central
  /// differences of lower(), 2 * support.size calls.
  virtual void lower_cross_product(std::span<const double> x, std::span<const double> y,
                                   std::span<const double> u, std::span<double> out_x);
  /// out_x [support.size] = (d g_i / dx)(x, y). Default: central differences of lower(), 2 * support.size
  /// calls.
  virtual void lower_slope(std::span<const double> x, std::span<const double> y, std::span<double> out_x);
  /// lower(), lower_hessian_product() and lower_cross_product() together; override where one pass over the
  /// data gives all three. Any output may be empty: it is then not wanted. Returns g_i, or 0 where grad_y is
  /// not wanted.
  virtual double lower_fused(std::span<const double> x, std::span<const double> y, std::span<const double> u,
                             std::span<double> grad_y, std::span<double> hessian_y,
                             std::span<double> cross_x);

  /// Samples that upper_batch() and lower_batch() can be restricted to; 0: a batch is the whole. Methods that
  /// work with mini-batches use these counts, and every method's samples are counted by them.
  [[nodiscard]] virtual SampleCounts sample_counts() const { return {}; }
  /// upper() estimated from the samples of `batch`, a part of sample_counts().upper: the terms of these
  /// samples times batch.count, everything else in full, so that the mean over all indices is upper().
  /// Default: upper().
  virtual double upper_batch(const Batch& batch, std::span<const double> x, std::span<const double> y,
                             std::span<double> grad_x, std::span<double> grad_y);
  /// lower_fused() estimated from the samples of `batch`, a part of sample_counts().lower, in the same way.
  /// Default: lower_fused().
  virtual double lower_batch(const Batch& batch, std::span<const double> x, std::span<const double> y,
                             std::span<const double> u, std::span<double> grad_y, std::span<double> hessian_y,
                             std::span<double> cross_x);

  /// b, where this objective can give curvature blocks [b x b] with m = k b; 0: it cannot.
  [[nodiscard]] virtual std::size_t lower_curvature_size() const { return 0; }
  /// A positive definite matrix whose k copies along the diagonal bound the lower Hessian at (x, y) from
  /// above, or are close to it: methods precondition by it. b = m: the Hessian itself. `block` [b * b],
  /// symmetric.
  virtual void lower_curvature(std::span<const double> x, std::span<const double> y, std::span<double> block);
  /// b, where this objective can give the diagonal of such a block, up to a common factor; 0: it cannot. For
  /// blocks too large to be made.
  [[nodiscard]] virtual std::size_t lower_curvature_diagonal_size() const { return 0; }
  /// `diagonal` [b], >= 0.
  virtual void lower_curvature_diagonal(std::span<const double> x, std::span<const double> y,
                                        std::span<double> diagonal);

  /// Samples whose mean (or sum) G_i is, each a loss in natural units; 0: G_i is exact, or it is not known.
  /// Methods use it to tell what a few samples say by chance; for mini-batches there is sample_counts().
  [[nodiscard]] virtual std::size_t upper_sample_count() const { return 0; }

  /// The part of the upper variable this worker depends on. Called once, when the worker is added.
  [[nodiscard]] virtual UpperSupport upper_support(std::size_t upper_dim) const { return {0, upper_dim}; }
  /// False: G_i depends on y alone. The engine may then use x_i = v and drop theta_i (general-form
  /// consensus).
  [[nodiscard]] virtual bool upper_depends_on_x() const { return true; }
};

}  // namespace adbo
