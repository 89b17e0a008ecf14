#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace adbo {

enum class Method {
  kAuto,
  kAdbo,
  kSdbo,
  kAsyncHypergradient,
  kExact,
  kStocbio,
  kStable,
  kVrbo,
  kSoba,
  kSaba,
  kAmigo,
  kAidCg,
  kAidNeumann,
  kItd,
  kCpbo,
  kF2sa,
  kFedNest,
  kDsbo,
  kSpdb,
};
/// What kAuto stands for.
inline constexpr Method kAutomaticMethod = Method::kAsyncHypergradient;
enum class ClockKind { kReal, kVirtual };
enum class ExecutorKind { kTbb, kThreads, kInline };
/// Auto: scale-free steps with implicit cuts, the fixed ones with unrolled cuts.
enum class StepRule { kAuto, kFixed, kTheorem2 };
/// How a cut comes about: from K unrolled lower rounds with a barrier (the paper), or from running estimates
/// of the lower solution and the adjoint without one (docs/practical-cuts.md).
enum class CutConstruction { kUnrolled, kImplicit };
/// Auto: exact with implicit cuts, ascent (new_29) with unrolled ones.
enum class MultiplierRule { kAuto, kAscent, kExact };
/// Whether implicit cuts see a copy y_i per worker, or the consensus z alone, in which the copies are
/// eliminated.
enum class LowerCopies { kLocal, kEliminated };
/// What follows when a worker's objective throws, gives something that is not finite, or does not answer in
/// time: the run ends, or the worker's terms leave the sums.
enum class WorkerFailurePolicy { kFail, kDrop };
enum class RegularizationSchedule { kDecaying, kConstant };
enum class Consensus { kGeneral, kFull };
/// When a polytope update is due: after iterations t with (t+1) mod k_pre == 0 (paper), or t mod k_pre == 0
/// (code).
enum class CutPhase { kAfterInterval, kFromStart };
/// Which points get a cut: those with h > epsilon (paper), or all (the authors' code, with epsilon = 0).
enum class CutRule { kViolated, kAlways };
/// Which cuts go: multiplier zero at two consecutive iterations (97_new_35), or below 1e-10 once (the
/// authors' code).
enum class DropRule { kTwiceZero, kBelowThreshold };
/// What happens to the answers in flight when a polytope update begins: they wait for the next iteration
/// (paper), or they are discarded and every worker starts anew after the update (the authors' code).
enum class CutBarrier { kHold, kRestart };
/// The order of the three updates within a lower round: 97_35, 97_36 (with the old y'), 97_37 (paper); or y',
/// dual, z' (the authors' hyper-cleaning code); or y', z' (with the new y'), dual (the authors' coefficient
/// code).
enum class LowerRoundOrder { kPaper, kDualFirst, kConsensusFirst };
/// dh/dv through all K rounds with their coupling (exact); through K + 1 rounds of the worker alone (the
/// authors' coefficient code); or through K + 1 rounds without the Hessian terms (their hyper-cleaning code).
enum class CutGradient { kExact, kLocal, kLocalFrozen };

/// Local steps corrected by the mean gradient and a hypergradient from everybody (full), or uncorrected local
/// steps and every worker's hypergradient by its own Hessian (light).
enum class FedNestVariant { kFull, kLight };
/// Every step along a tracker of the agents' mean direction (tracking), or along the agent's own as published
/// (gossip).
enum class DsboVariant { kTracking, kGossip };
/// Who talks to whom in a decentralized method: everybody to two neighbours, pairs drawn at random, everybody
/// to everybody.
enum class GraphKind { kRing, kRandom, kComplete };

/// Everything a run can be told. An aggregate with defaults; option_table.h names, bounds and documents each
/// member.
struct Options {
  Method method = Method::kAuto;

  // Asynchrony
  std::int64_t active_workers = 0;  ///< S; 0: half of the workers, rounded up
  std::int64_t max_staleness = 0;   ///< tau; 0: by the method (resolve_options.cpp)
  std::int64_t threads = 0;         ///< 0: all processors
  ExecutorKind executor = ExecutorKind::kTbb;
  ClockKind clock = ClockKind::kReal;
  std::string delay = "none";       ///< none | lognormal:MU,SIGMA (milliseconds)
  std::string stragglers = "none";  ///< none | K:FACTOR
  std::uint64_t seed = 1;

  // Workers that fail
  WorkerFailurePolicy worker_failure = WorkerFailurePolicy::kFail;
  std::int64_t worker_retries = 0;     ///< times that a failed answer is asked for again first
  double worker_deadline_seconds = 0;  ///< that one answer may take to compute; 0: none

  // Limits
  std::int64_t iterations = 1000;
  double time_limit_seconds = 0;           ///< 0: none
  double stationarity_target = 0;          ///< epsilon of Definition 2; 0: run to the limit
  std::int64_t stationarity_interval = 0;  ///< R; 0: never measured

  // Steps (Table "Step-sizes" of the paper)
  StepRule steps = StepRule::kAuto;
  double step_upper_local = 0.001;      ///< eta_x
  double step_lower_local = 0.02;       ///< eta_y
  double step_upper_consensus = 0.001;  ///< eta_v
  double step_lower_consensus = 0.02;   ///< eta_z
  double step_cut_multiplier = 0.1;     ///< eta_lambda
  double step_consensus_dual = 0.001;   ///< eta_theta
  double step_lower_dual = 0.02;        ///< eta_phi
  double smoothness = 1;                ///< L of Assumption 1, used by steps = theorem2
  double drift_constant = 1;            ///< k1 of Assumption 2, used by steps = theorem2
  double theorem_gamma = 3;             ///< gamma > 2 of Theorem 2, used by steps = theorem2

  // The asynchronous hypergradient
  double upper_rate = 0;  ///< how far a coordinate of v moves per iteration at first; 0: automatic
  double adjoint_damping =
      -1;  ///< added to the lower Hessian, in units of its mean eigenvalue; -1: automatic

  // Hypergradient methods that work in rounds
  double step_upper = 0.1;          ///< of x along the estimated hypergradient
  double step_lower = 0;            ///< of y; 0: 1 / L from the Hessian at the start
  double step_adjoint = 0;          ///< of the adjoint's estimate; 0: as step_lower
  double step_decay = 0;            ///< steps of iteration t are multiplied by (1 + t)^(-step_decay)
  std::int64_t lower_steps = 10;    ///< steps of y within an iteration
  std::int64_t adjoint_steps = 10;  ///< steps or terms of the adjoint's solver within an iteration
  std::int64_t batch_rows = 0;      ///< rows of a mini-batch, per worker; 0: all

  double move_limit = 0.01;  ///< of a coordinate of x in an iteration, as a share of its box; 0: none

  // Single methods among them
  std::int64_t vrbo_period = 10;  ///< q: iterations from one evaluation of all rows to the next
  double stable_weight = 0.1;     ///< tau: what is not carried over of the estimated matrices

  // F2SA
  double f2sa_multiplier = 10;   ///< lambda_0
  double f2sa_growth = 1.0 / 3;  ///< lambda_t = lambda_0 (1 + t)^growth

  // FedNest
  FedNestVariant fednest_variant = FedNestVariant::kFull;
  std::int64_t fednest_rounds = 1;  ///< T: inner rounds of an iteration, lower_steps local steps each
  std::int64_t upper_steps = 1;     ///< local steps of x within an iteration

  // Decentralized
  GraphKind graph = GraphKind::kRing;
  double graph_probability = 0.5;  ///< of an edge, where graph = random
  DsboVariant dsbo_variant = DsboVariant::kTracking;
  double dsbo_averaging = 1;  ///< weight of the new hypergradient in its moving average
  double spdb_penalty = 0.1;  ///< rho of the augmented Lagrangian, in units of 1 / step

  // The exact hypergradient
  double hypergradient_tolerance = 1e-8;  ///< on the projected hypergradient's norm, relative to 1 + |F|

  // Regularization of the Lagrangian (new_24)
  RegularizationSchedule regularization = RegularizationSchedule::kDecaying;
  double cut_regularization = 0.04;      ///< c1 when constant
  double dual_regularization = 0.002;    ///< c2 when constant
  double cut_regularization_floor = 0;   ///< lower bound of c1_t when decaying
  double dual_regularization_floor = 0;  ///< lower bound of c2_t when decaying
  double multiplier_bound = 0;           ///< alpha_3: lambda_l^2 <= alpha_3; 0: none
  double dual_bound = 0;                 ///< alpha_4: ||theta_i||^2 <= alpha_4; 0: none

  // Lower rounds and cuts
  CutConstruction cuts = CutConstruction::kUnrolled;
  MultiplierRule multipliers = MultiplierRule::kAuto;
  LowerCopies lower_copies = LowerCopies::kEliminated;
  std::int64_t lower_rounds = 1;  ///< K
  double lower_penalty = 1;       ///< mu
  LowerRoundOrder lower_round_order = LowerRoundOrder::kPaper;
  std::int64_t cut_interval = 0;  ///< k_pre; 0: 50 with unrolled cuts, 1 with implicit ones
  CutPhase cut_phase = CutPhase::kAfterInterval;
  std::int64_t cut_until = -1;    ///< T1; -1: as long as the run lasts
  std::int64_t max_cuts = 20;     ///< M
  double lower_tolerance = 1e-4;  ///< epsilon of h <= epsilon
  CutRule cut_rule = CutRule::kViolated;
  DropRule drop_rule = DropRule::kTwiceZero;
  CutBarrier cut_barrier = CutBarrier::kHold;
  CutGradient cut_gradient = CutGradient::kExact;
  Consensus consensus = Consensus::kGeneral;
};

}  // namespace adbo
