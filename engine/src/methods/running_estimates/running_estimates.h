#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "adbo/problem.h"
#include "adbo/state_archive.h"
#include "methods/running_estimates/contribution_form.h"
#include "methods/running_estimates/estimate_lag.h"
#include "methods/running_estimates/preconditioner.h"
#include "protocol/transport.h"

namespace adbo::detail {

/// Running estimates of the lower solution y*(v), y-hat, and of the adjoint q that solves
///   ((1/N) sum_i d2 g_i/dy dy + damping I) q = s,
/// where the right-hand side s is the method's. Both are improved by one preconditioned step per master
/// iteration from the table of the workers' latest contributions: their accepted states. The master's.
class RunningEstimates {
 public:
  /// `form`: of what the workers send.
  RunningEstimates(const Problem& problem, ContributionForm form);

  /// Takes notice of the workers' new contributions: the age of each, and its curvature block if it has one.
  void absorb(std::span<const std::size_t> active, const WorkerStates& states);
  /// The worker's contribution leaves the table.
  void drop(std::size_t worker);
  /// The table's means of grad_y g_i and (d2 g_i/dy dy) q, and with them, s [m] and the damping (>= 0) the
  /// two residuals. What contributions leave out is added at the present v, y-hat and q; `upper`: v, [n].
  void sum(const WorkerStates& states, std::span<const double> upper, std::span<const double> right_hand_side,
           double damping);
  /// One step of y-hat and q against the residuals. Where no curvature is known yet, q alone moves, by a
  /// plain step: its products then show the curvature.
  void improve(std::int64_t t);

  /// direction [n] -= (d2 r/dx dy) q at v = `upper` and the present y-hat and q, r the common term that
  /// contributions leave out; nothing where they are whole.
  void subtract_common_cross(std::span<const double> upper, std::span<double> direction);

  /// out <- the mean of one member of the states over the workers heard of. Summed afresh in worker order:
  /// no drift, and the same bits every time.
  void mean(const WorkerStates& states, std::vector<double> UpdateMessage::*member,
            std::span<double> out) const;
  /// The same of a member that lies on the workers' supports, [n].
  void mean_on_supports(const WorkerStates& states, std::vector<double> UpdateMessage::*member,
                        std::span<double> out) const;
  [[nodiscard]] double mean(const WorkerStates& states, double UpdateMessage::*member) const;

  [[nodiscard]] const std::vector<double>& lower() const { return lower_; }      ///< y-hat, [m]
  [[nodiscard]] const std::vector<double>& adjoint() const { return adjoint_; }  ///< q, [m]
  /// (1/N) sum_i grad_y g_i, [m], after sum(); preconditioned, the full step of y-hat, after improve().
  [[nodiscard]] const std::vector<double>& lower_residual() const { return lower_residual_; }
  /// ((1/N) sum_i d2 g_i/dy dy + damping I) q - s, [m]; between sum() and improve().
  [[nodiscard]] const std::vector<double>& adjoint_residual() const { return adjoint_residual_; }
  [[nodiscard]] const Preconditioner& preconditioner() const { return *preconditioner_; }
  /// An estimate of the lower Hessian's largest eigenvalue; 0 before anything is known.
  [[nodiscard]] double largest_curvature() { return preconditioner_->largest_curvature(); }
  [[nodiscard]] bool table_is_complete() const { return heard_ + dropped_ == table_iteration_.size(); }
  /// Iterations since the requests that the contributions answer, on average.
  [[nodiscard]] double mean_age(std::int64_t t) const;
  /// By the residuals as they are: sum() leaves those of the estimates, improve() the steps it took for them.
  [[nodiscard]] EstimateLag lag(std::int64_t t) const;
  void persist(StateArchive& archive) {
    preconditioner_->persist(archive);
    archive(lower_, adjoint_, lower_residual_, adjoint_residual_, table_iteration_, heard_, dropped_);
  }

 private:
  void add_common_part(std::span<const double> upper);

  const Problem& problem_;
  ContributionForm form_;
  std::unique_ptr<Preconditioner> preconditioner_;
  std::vector<double> lower_, adjoint_;                     ///< [m]
  std::vector<double> lower_residual_, adjoint_residual_;   ///< [m]
  std::unique_ptr<CommonTerm> common_;                      ///< r; null where contributions are whole
  std::vector<double> common_gradient_, common_curvature_;  ///< of r, [m]
  std::vector<double> common_cross_;                        ///< [n]
  /// Of the request that each worker's contribution answers; -1: none.
  std::vector<std::int64_t> table_iteration_;
  std::size_t heard_ = 0, dropped_ = 0;
};

}  // namespace adbo::detail
