#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "adbo/options.h"
#include "adbo/state_archive.h"

namespace adbo {

/// How a run ended.
enum class Termination {
  kNotRun,
  kConverged,  ///< the stationarity target, or the method's own tolerance, was reached
  kIterationLimit,
  kTimeLimit,
  kStopped,      ///< by request_stop() or an observer
  kDiverged,     ///< an iterate or an objective became non-finite
  kFailed,       ///< a worker's objective threw
  kStalled,      ///< no further decrease is representable, and the method's tolerance is not reached
  kSolveFailed,  ///< a system or a lower level that the method has to solve has no solution it could find
};
/// "converged", "iteration_limit", ...: the words of summary.json.
[[nodiscard]] std::string_view to_string(Termination termination);

struct Counts {
  std::int64_t upper_gradients = 0;  ///< evaluations of G_i with gradient
  std::int64_t lower_gradients = 0;  ///< evaluations of g_i with gradient
  std::int64_t hessian_products = 0;
  std::int64_t cross_products = 0;
  /// The same in terms of single samples, so that methods with different batches compare: a gradient over b
  /// samples counts b, and so does a Hessian or cross product. Objectives without samples count none.
  std::int64_t sample_gradients = 0;
  std::int64_t sample_products = 0;
  std::int64_t rounds = 0;    ///< exchanges that a synchronous method waited for
  std::int64_t messages = 0;  ///< worker to master and master to worker
  std::int64_t bytes = 0;     ///< what those messages would weigh on a network
  std::int64_t cuts_added = 0;
  std::int64_t cuts_dropped = 0;
  std::int64_t cuts_alive = 0;

  void persist(StateArchive& archive) {
    archive(upper_gradients, lower_gradients, hessian_products, cross_products, sample_gradients,
            sample_products, rounds, messages, bytes, cuts_added, cuts_dropped, cuts_alive);
  }
};

/// One line of the run's history. NaN: not measured at this iteration.
struct TraceRecord {
  std::int64_t iteration = 0;  ///< master iterations completed
  double wall_seconds = 0;     ///< without the time observers took
  double cpu_seconds = 0;      ///< of the whole process so far, without what observers took on their thread
  double virtual_seconds = 0;  ///< of the delay model; equals wall_seconds under the real clock
  double upper_objective =
      0;  ///< mean of G_i over the workers heard so far, at their last evaluated (x_i, y_i)
  double lower_objective = 0;   ///< (1/N) sum_i g_i(v, y_i) at the last polytope update
  double lower_distance = 0;    ///< h at the last polytope update
  double stationarity_gap = 0;  ///< ||grad G^t||^2 of Definition 1, where measured
  std::int64_t cuts = 0;
  std::int64_t active = 0;         ///< workers whose answers this iteration used
  std::int64_t max_staleness = 0;  ///< iterations since the most silent worker was heard

  void persist(StateArchive& archive) {
    archive(iteration, wall_seconds, cpu_seconds, virtual_seconds, upper_objective, lower_objective,
            lower_distance, stationarity_gap, cuts, active, max_staleness);
  }
};

/// A worker whose terms left the sums.
struct DroppedWorker {
  std::int64_t worker = -1;
  std::int64_t iteration = -1;  ///< the first one without it
  std::string why;

  void persist(StateArchive& archive) { archive(worker, iteration, why); }
};

/// What a run did. Starts at impossible values so that an unset field is seen.
struct Summary {
  Termination termination = Termination::kNotRun;
  std::string message;                 ///< what ended a failed or diverged run: worker, iteration, variable
  Method method_used = Method::kAuto;  ///< never kAuto after a run
  std::int64_t iterations = -1;
  double wall_seconds = -1;  ///< without observers
  double virtual_seconds = -1;
  double cpu_seconds = -1;             ///< of the whole process during the run
  double barrier_virtual_seconds = 0;  ///< spent waiting for all N workers: polytope updates, rounds
  std::int64_t num_workers = -1;
  std::int64_t active_workers = -1;  ///< S as used
  std::int64_t max_staleness = -1;
  std::int64_t threads_given = -1;
  std::int64_t threads_used = -1;
  double upper_change_max = -1;              ///< largest |v_j - v_j^0|
  double stationarity_gap = -1;              ///< last measured; -1: never
  std::int64_t stationarity_iteration = -1;  ///< T(epsilon): first measured iteration at or below the target
  double adjoint_residual = -1;  ///< relative, of the last linear system that was solved; -1: none was
  double consensus_error =
      -1;  ///< decentralized: largest |x_ij - mean_j|, |y_ij - mean_j|; -1: not decentralized
  Counts counts;
  /// A worker that missed worker_deadline still computes: the problem has to outlive it, and its thread is
  /// not to be had back.
  bool has_runaways = false;
  std::vector<DroppedWorker> dropped_workers;     ///< in order; empty unless worker_failure = drop
  std::vector<std::int64_t> staleness_histogram;  ///< [k]: answers that were k iterations old when used
  Options options_used;                           ///< with every automatic value filled in

  [[nodiscard]] std::string one_line() const;
  [[nodiscard]] std::string full_report() const;

  void persist(StateArchive& archive);
};

}  // namespace adbo
