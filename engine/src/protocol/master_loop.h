#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <vector>

#include "adbo/checkpoint.h"
#include "adbo/observer.h"
#include "adbo/options.h"
#include "adbo/state_archive.h"
#include "adbo/summary.h"
#include "protocol/active_set.h"
#include "protocol/method.h"
#include "protocol/run_limits.h"

namespace adbo::detail {

/// Where a run's checkpoints go.
struct CheckpointPlan {
  CheckpointSink* sink = nullptr;  ///< null: none are made
  CheckpointFacts facts;           ///< of each, but for the iteration
};

/// Drives a method over a transport: collect the active set, step, collective exchange, broadcast, report.
class MasterLoop {
 public:
  /// `options` are resolved (no automatic value left). `observer` may be null.
  MasterLoop(const Options& options, MethodMaster& method, Transport& transport, const RunLimits& limits,
             Observer* observer, CheckpointPlan checkpoints = {});

  /// Runs to the end and fills the summary. What an observer throws comes out after the loop has ended.
  void run(Summary& summary);
  /// The same from where a checkpoint's state left off. BadState where it does not fit.
  void resume(StateArchive& saved, Summary& summary);

  /// After run(): the last iterate, or the last finite one (the one published last) where the run diverged.
  [[nodiscard]] std::span<const double> final_upper() const;
  [[nodiscard]] std::span<const double> final_lower() const;

 private:
  /// What an interrupted run still waits for computations, so that its last checkpoint can be made: with the
  /// tenth of a second between two looks at the limits it ends within a second.
  static constexpr double kInterruptionGrace = 0.5;

  [[nodiscard]] bool diverged() const;
  void begin(Summary& summary);
  bool begin_run();
  void go_on();
  void finish();
  /// Sends those steps whose time has come.
  void answer_waiting();
  void persist(StateArchive& archive);
  /// Goes on from what was loaded, at these times of the run.
  void take_up(const StateArchive& archive, double wall, double cpu);
  void find_waiting();
  void check_workers(const StateArchive& archive) const;
  void note_checkpoint_if_due();
  [[nodiscard]] bool is_image_worth_its_time() const;
  void encode_checkpoint();
  void store_checkpoint();
  void store_last_checkpoint();
  /// One iteration t; false: the run has ended, and summary_ says how.
  bool iterate(std::int64_t t);
  bool collect(std::int64_t t);
  bool measure_if_due(std::int64_t completed);
  /// Of the state after `completed` iterations.
  [[nodiscard]] TraceRecord record_of(std::int64_t completed, std::size_t active, std::int64_t silence) const;
  /// Shows the observer the state between two iterations, if it has not seen it; false: the run has ended.
  bool conclude_iteration();
  bool observe(const TraceRecord& record);
  bool end_if_running_away(std::int64_t completed);
  bool end(Termination termination, std::string message = {});
  bool end_interrupted();
  bool end_with(const WorkerIncident& incident, std::int64_t completed);
  /// Goes on without the worker, where that is wanted and possible; false: the run has ended.
  bool drop(const WorkerIncident& incident, std::int64_t completed);
  [[nodiscard]] double wall_seconds() const;
  [[nodiscard]] double run_cpu_seconds() const;
  [[nodiscard]] double run_seconds(double wall) const;

  const Options& options_;
  MethodMaster& method_;
  Transport& transport_;
  const RunLimits& limits_;
  Observer* observer_;
  CheckpointPlan checkpoints_;
  ActiveSet active_;
  std::vector<std::byte> image_;               ///< the checkpoint made last, not sealed before it is stored
  std::int64_t image_iteration_ = -1;          ///< -1: none was made
  std::int64_t stored_iteration_ = -1;         ///< of the checkpoint stored last
  RunLimits::Instant image_end_{};             ///< when it was finished, ...
  RunLimits::Instant::duration image_cost_{};  ///< ... and what it took
  Summary* summary_ = nullptr;
  std::int64_t t_ = 0;  ///< iterations completed
  /// What can be saved is the state between two iterations, or while the answers of one are awaited.
  enum class Phase : std::uint8_t { kBetween, kCollecting, kStepping };
  Phase phase_ = Phase::kStepping;
  std::vector<std::size_t> waiting_;    ///< workers to be sent a step before the next iteration, ascending
  std::vector<std::size_t> remaining_;  ///< of the active set, after one of it was dropped
  std::vector<std::size_t> everyone_;   ///< that is not dropped
  std::vector<double> upper_start_;
  RunLimits::Instant wall_start_{};
  double cpu_start_ = 0;
  double observer_wall_ = 0, observer_cpu_ = 0;
  double last_gap_;                        ///< at the iteration reported next, or NaN
  std::optional<TraceRecord> unobserved_;  ///< of the state between two iterations that was not observed yet
  std::optional<Ending> ending_;           ///< how the run ends once that is done
};

}  // namespace adbo::detail
