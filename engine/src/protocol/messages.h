#pragma once
// What travels between the master and the workers. Every buffer is sized once, before the run; messages are
// filled and read in place.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "adbo/batch.h"
#include "adbo/state_archive.h"
#include "protocol/cut.h"

namespace adbo::detail {

/// What the master broadcasts: immutable from publication until no worker can read it.
struct Snapshot {
  std::int64_t iteration = 0;           ///< master iterations completed
  std::vector<double> upper_consensus;  ///< v, [n]
  std::vector<double> lower_consensus;  ///< z, [m]; the running estimate y-hat of a hypergradient method
  std::vector<double> lower_adjoint;    ///< q, [m]; empty where the method has none
  std::vector<double> lower_point;      ///< z, [m], where it travels beside y-hat; empty otherwise
  double lower_step = 0;                ///< eta_y where the master chooses it while running
  std::vector<Cut*> cuts;               ///< the polytope; pinned, read-only for workers
  std::vector<double> cut_multiplier;   ///< lambda_l, one per cut
};

/// What a worker is asked to do.
enum class Ask : std::uint8_t {
  kStep,              ///< new_25, new_26: one step of x_i and y_i; answered by an UpdateMessage
  kForward,           ///< 97_35: y'_{k+1}; the others are answered by a RoundMessage
  kReverse,           ///< the reverse of one round
  kIsolatedRound,     ///< one further round y'_{K+1} whose answer only the worker itself uses
  kIsolatedGradient,  ///< d/dv ||y_i - y'_{i,K+1}||^2 with z' and phi constant
  kMeasure,  ///< an evaluation at a point of the master's that leaves the worker as it is: its blocks
             ///< of the stationarity gap, or, for a synchronous method, what `wanted` names
};

/// What a synchronous method may ask of a worker at a point (x, y) with a direction u.
struct Wanted {
  bool upper = false;            ///< G_i with both gradients
  bool lower = false;            ///< g_i with grad_y g_i
  bool hessian_product = false;  ///< (d2 g_i/dy dy) u
  bool cross_product = false;    ///< (d2 g_i/dx dy) u
  bool curvature = false;        ///< WorkerObjective::lower_curvature()
  bool lower_slope = false;      ///< grad_x g_i
};

/// FedNest's local steps from the point of a request: count times z <- z - step d, z being the worker's x or
/// y.
struct LocalSteps {
  enum class Variable : std::uint8_t { kNone, kLower, kUpper };
  Variable variable = Variable::kNone;
  bool is_corrected = false;  ///< d = grad_i(z) - grad_i(start) + correction; otherwise grad_i(z)
  std::int64_t count = 0;
  double step = 0;
  std::int64_t adjoint_terms = 0;  ///< of the worker's own Neumann series, where x takes uncorrected steps
  double adjoint_step = 0;
  std::span<const double> correction{};  ///< mean direction at the start; [m], or [n] for x
  std::uint64_t first_draw = 0;          ///< of the mini-batches, one draw per step
};

/// The point of an evaluation; u is read only where a product is wanted.
struct EvaluationPoint {
  std::span<const double> upper{};      ///< x, [n]
  std::span<const double> lower{};      ///< y, [m]
  std::span<const double> direction{};  ///< u, [m]
};

/// The answer. What was not wanted means nothing: an older answer lies there, not always the last one.
struct Evaluation {
  double upper_value = 0;                    ///< G_i
  double lower_value = 0;                    ///< g_i
  std::vector<double> upper_gradient_upper;  ///< grad_x G_i on the support; empty where G_i has no x
  std::vector<double> upper_gradient_lower;  ///< grad_y G_i, [m]
  std::vector<double> lower_gradient;        ///< grad_y g_i, [m]
  std::vector<double> hessian_product;       ///< [m]
  std::vector<double> cross_product;         ///< on the support
  std::vector<double> curvature;             ///< [b * b]; empty where the method has no use for it
  std::vector<double> lower_slope;           ///< grad_x g_i on the support
  std::vector<double> local_lower,
      local_upper;  ///< FedNest's: where the local steps went, [m], on the support
};

/// A request to one worker. Spans point into the master's memory, which stays as it is until the worker has
/// answered.
struct Request {
  Ask ask = Ask::kStep;
  std::int64_t iteration = 0;              ///< master iterations completed when it was sent: t-hat
  std::span<const double> consensus_dual;  ///< theta_i, [n_i]; empty where x_i is eliminated

  // Lower rounds
  std::int64_t round = 0;                   ///< k
  bool last_round = false;                  ///< k = K - 1: fill the cut's block b_i, h_i and b_i.y_i
  bool with_adjoint = false;                ///< and begin the reverse of this round at once
  bool frozen = false;                      ///< kIsolatedGradient: dy'_{k+1}/dy'_k is taken as the identity
  bool start_from_reference = false;        ///< k = 0: y'_0 is the reference; otherwise the worker's own y_i
  std::span<const double> reference_upper;  ///< x_i as the master knows it, [n_i]
  std::span<const double> reference_lower;  ///< y_i as the master knows it, [m]
  std::span<const double> round_consensus;  ///< z'_k, [m]
  std::span<const double> round_dual;       ///< phi_ik, [m]
  std::span<const double> consensus_adjoint;  ///< zbar^c, [m]
  Cut* new_cut = nullptr;                     ///< the cut under construction

  // A synchronous method's evaluation
  Wanted wanted;
  EvaluationPoint point;
  LocalSteps local;
  Batch upper_batch, lower_batch;  ///< the worker's samples that G_i and g_i are estimated from

  /// Every span above: all that the request has of the master's memory, but for the cut under construction.
  [[nodiscard]] std::array<std::span<const double>*, 10> borrowed() {
    return {&consensus_dual, &reference_upper,   &reference_lower, &round_consensus, &round_dual,
            &point.upper,    &consensus_adjoint, &point.lower,     &point.direction, &local.correction};
  }
};

/// Evaluations a message took, and what they were in terms of single samples (Counts says how).
struct WorkCounts {
  std::int32_t upper_gradients = 0, lower_gradients = 0, hessian_products = 0, cross_products = 0;
  std::int64_t sample_gradients = 0, sample_products = 0;

  void persist(StateArchive& archive) {
    archive(upper_gradients, lower_gradients, hessian_products, cross_products, sample_gradients,
            sample_products);
  }
};

/// Set when the objective threw or returned something non-finite; the message's other contents are then
/// meaningless.
struct WorkerFailure {
  bool failed = false;
  bool non_finite = false;  ///< numbers ran away; otherwise an exception
  std::string what;

  void persist(StateArchive& archive) { archive(failed, non_finite, what); }
};

/// A worker's answer to a step: its whole state.
struct UpdateMessage {
  std::int64_t iteration = 0;                ///< of the request it answers
  std::vector<double> upper_local;           ///< x_i, [n_i] or empty where eliminated
  std::vector<double> lower_local;           ///< y_i, [m]; with implicit cuts y_i - y-hat
  std::vector<std::int64_t> cut_serial;      ///< the cuts it knew, ...
  std::vector<double> cut_product;           ///< ... and b_il . lower_local for each
  std::vector<double> cut_gradient_product;  ///< ... and b_il . grad_y G_i, where the multipliers are exact
  double upper_value = 0;                    ///< G_i at the state before the step
  // A hypergradient method's contribution, at the broadcast (v, y-hat, q); empty otherwise:
  std::vector<double> upper_objective_gradient;  ///< grad_y G_i, [m]
  std::vector<double> lower_gradient;            ///< grad_y g_i, [m]
  std::vector<double> hessian_product;           ///< (d2 g_i/dy dy) q, [m]
  std::vector<double> upper_direction;           ///< grad_x G_i - (d2 g_i/dx dy) q, on the support
  std::vector<double> curvature;                 ///< the worker's curvature block, where has_curvature
  bool has_curvature = false;
  std::vector<double>
      upper_objective_slope;  ///< grad_x G_i, on the support; empty where G_i depends on y alone
  double upper_curvature =
      0;                   ///< ||change of grad_y G_i|| / ||change of y|| since the last answer; 0: unknown
  double lower_value = 0;  ///< g_i
  WorkCounts work;
  WorkerFailure failure;

  void persist(StateArchive& archive) {
    archive(iteration, upper_local, lower_local, upper_value, upper_objective_gradient, lower_gradient,
            hessian_product, upper_direction, has_curvature, upper_objective_slope, upper_curvature,
            lower_value, work, failure);
    if (has_curvature) archive(curvature);
    archive.sized(cut_serial, cut_product, cut_gradient_product);
  }
};

/// A worker's answer to anything else.
struct RoundMessage {
  std::vector<double> point;  ///< y'_{k+1}, [m]
  std::vector<double> start;  ///< y'_0, [m], in the answer to round 0 that began at the worker's own y_i
  std::vector<double> local_adjoint;  ///< ybar^c, [m]
  std::vector<double> dual_adjoint;   ///< phibar_k, [m]
  std::vector<double>
      upper_gradient;      ///< the worker's part of dh/dv so far, on its support, [n_i of the support]
  double distance = 0;     ///< ||y_i - y'_iK||^2
  double product = 0;      ///< b_i . y_i
  double lower_value = 0;  ///< g_i(v, y'_k)
  double upper_value = 0;  ///< kMeasure: G_i(x_i, y_i)
  double gap_upper = 0, gap_lower = 0;  ///< kMeasure: ||grad_{x_i} L_p||^2, ||grad_{y_i} L_p||^2
  Evaluation evaluation;                ///< kMeasure: a synchronous method's
  WorkCounts work;
  WorkerFailure failure;
};

}  // namespace adbo::detail
