#pragma once

#include <memory>
#include <vector>

#include "adbo/state_archive.h"
#include "methods/stochastic/stochastic_master.h"

namespace adbo::detail {

/// STABLE (Chen, Sun, Xiao, Yin 2021, Algorithm 1). Estimates H of d2 g/dy dy [m x m] and J of d2 g/dx dy
/// [n x m] follow the point with a correction of their lag; tau = stable_weight:
///   H <- (1 - tau) (H - h(x', y')) + h(x, y),  both h from the same batch, (x', y') the point before; J
///   alike; x+ = P(x - step_upper (grad_x G - J H^-1 grad_y G)), y+ = y - step_lower grad_y g - H^-1 J' (x+ -
///   x).
/// h comes column by column from Hessian and cross products, m rounds each; where evaluations are exact,
/// H = h(x, y) and the point before is not asked about. Eigenvalues of H are kept above kSmallestEigenvalue
/// times the largest one (the paper's projection); J is not projected: its bound is not known. Where H and J
/// need more than kMemoryLimit, the run fails and says so.
class StableMaster final : public StochasticMaster {
 public:
  StableMaster(const Problem& problem, const Options& options);
  ~StableMaster() override;

  static constexpr double kSmallestEigenvalue = 1e-6;
  void persist(StateArchive& archive) override;

 private:
  struct Estimates;

  std::optional<Ending> prepare() override;
  std::optional<Ending> advance(const Steps& steps) override;
  void make_estimates();
  void update_estimates();
  void add_matrices(double factor, std::span<const double> upper, std::span<const double> lower,
                    const BatchDraws& draws);

  const Options& options_;
  std::unique_ptr<Estimates> estimates_;
  std::vector<double> old_upper_, old_lower_;  ///< (x', y'), [n] and [m]
  std::vector<double> unit_, adjoint_;         ///< a unit vector, q, [m]
  std::vector<double> lower_gradient_;         ///< [m]
  std::vector<double> column_, cross_;         ///< a column of h, [m]; of J, or J q, [n]
};

}  // namespace adbo::detail
