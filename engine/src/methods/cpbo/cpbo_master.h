#pragma once

#include <cstdint>
#include <vector>

#include "adbo/options.h"
#include "adbo/state_archive.h"
#include "methods/adbo/polytope.h"
#include "methods/cpbo/exact_multipliers.h"
#include "methods/synchronous/step_sizes.h"
#include "methods/synchronous/synchronous_master.h"
#include "methods/synchronous/unrolled_descent.h"

namespace adbo::detail {

/// CPBO (Jiao, Yang, Wu, Song, Jian 2023, Algorithm 2) with F and f the means over the workers and their
/// data.
///
/// t < T1 = cut_until (B106 to B108), L_p = F + sum_l lambda_l c_l, c_l = a_l.x + b_l.y + kappa_l:
///   x <- x - eta_x grad_x L_p(x, y),  y <- y - eta_y grad_y L_p(x_new, y),  lambda_l <- [lambda_l +
///   eta_lambda c_l]_+; whenever cut_interval says so, idle cuts go (13_new) and, where h > epsilon, the cut
///   of h(x, y) = ||y - phi(x)||^2 at the new point is added (17_new). phi(x) = y_K after lower_rounds = K
///   gradient steps of step eta_y from that y, differentiated in reverse (3_new).
/// t >= T1 (96_18, 96_19): the polytope and lambda stay, L_p is F + sum_l lambda_l max(0, c_l)^2.
///
/// eta_x = step_upper, eta_y = step_lower, eta_lambda = step_cut_multiplier. (B108) has no projection;
/// without it a multiplier would turn negative and push out of the polytope.
///
/// multipliers = exact: (B106) and (B107) with the multipliers of ExactMultipliers in place of (B108), before
/// T1 and after it. What either ends at is in docs/methods.md, "What cpbo ends at".
class CpboMaster final : public SynchronousMaster {
 public:
  /// Both must outlive the object.
  CpboMaster(const Problem& problem, const Options& options);

  void fill(Snapshot& draft) override;
  /// ||grad_x L_p||^2 + ||grad_y L_p||^2 of the last iteration's two steps (Definition A.1).
  Measurement stationarity_gap(Transport&) override;
  [[nodiscard]] std::span<const double> upper_consensus() const override { return upper_; }
  [[nodiscard]] std::span<const double> lower_consensus() const override { return lower_; }
  void describe(TraceRecord& record) const override;
  void describe(Summary& summary) const override;
  void persist(StateArchive& archive) override {
    SynchronousMaster::persist(archive);
    archive(steps_, polytope_, upper_, lower_, value_, distance_, gap_upper_, gap_lower_, next_serial_,
            added_, dropped_);
  }

 private:
  Outcome iterate(std::int64_t t) override;
  [[nodiscard]] bool has_fixed_polytope(std::int64_t t) const;
  [[nodiscard]] bool has_exact_multipliers() const { return options_.multipliers == MultiplierRule::kExact; }
  void step_upper(std::int64_t t);
  void solve_multipliers(std::int64_t t);
  void step_lower(std::int64_t t);
  void step_multipliers();
  void update_polytope();
  void add_cut(double distance, std::span<const double> difference);
  /// a_l.x + b_l.y + kappa_l at the trial point.
  [[nodiscard]] double cut_value(std::size_t l) const;
  /// dL_p/dc_l: lambda_l, or 2 lambda_l max(0, c_l) once the polytope is fixed.
  [[nodiscard]] double cut_weight(std::int64_t t, std::size_t l) const;

  const Options& options_;
  StepSizes steps_;
  CutPool pool_;
  Polytope polytope_;
  ExactMultipliers multipliers_;  ///< where multipliers = exact
  UnrolledDescent descent_;
  std::vector<double> upper_, lower_;              ///< after the last complete iteration, [n], [m]
  std::vector<double> trial_upper_, trial_lower_;  ///< of the iteration in progress
  std::vector<double> gradient_upper_, gradient_lower_, difference_;  ///< [n], [m], [m]
  double value_, distance_;  ///< F and h as last evaluated; NaN before
  double gap_upper_, gap_lower_;
  std::int64_t next_serial_ = 0, added_ = 0, dropped_ = 0;
};

}  // namespace adbo::detail
