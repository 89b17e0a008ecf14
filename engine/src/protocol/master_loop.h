#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <vector>

#include "adbo/observer.h"
#include "adbo/options.h"
#include "adbo/summary.h"
#include "protocol/active_set.h"
#include "protocol/method.h"
#include "protocol/run_limits.h"

namespace adbo::detail {

/// Drives a method over a transport: collect the active set, step, collective exchange, broadcast, report.
class MasterLoop {
 public:
  /// `options` are resolved (no automatic value left). `observer` may be null.
  MasterLoop(const Options& options, MethodMaster& method, Transport& transport, const RunLimits& limits,
             Observer* observer);

  /// Runs to the end and fills the summary. What an observer throws comes out after the loop has ended.
  void run(Summary& summary);

  /// After run(): the last iterate, or the last finite one (the one published last) where the run diverged.
  [[nodiscard]] std::span<const double> final_upper() const;
  [[nodiscard]] std::span<const double> final_lower() const;

 private:
  [[nodiscard]] bool diverged() const;
  /// One iteration t; false: the run has ended, and summary_ says how.
  bool iterate(std::int64_t t);
  bool collect(std::int64_t t);
  bool measure_if_due(std::int64_t completed);
  /// Tells the observer of the state after `completed` iterations; false: it wants to end.
  bool observe(std::int64_t completed, std::size_t active, std::int64_t silence);
  bool end_if_running_away(std::int64_t completed);
  bool end(Termination termination, std::string message = {});
  bool end_interrupted();
  bool end_with(const WorkerIncident& incident, std::int64_t completed);
  bool accept_outcome(const MethodMaster::Outcome& outcome, std::int64_t completed);
  [[nodiscard]] double wall_seconds() const;
  [[nodiscard]] double run_cpu_seconds() const;
  [[nodiscard]] double run_seconds(double wall) const;

  const Options& options_;
  MethodMaster& method_;
  Transport& transport_;
  const RunLimits& limits_;
  Observer* observer_;
  ActiveSet active_;
  Summary* summary_ = nullptr;
  std::vector<std::size_t> everyone_;
  std::vector<double> upper_start_;
  RunLimits::Instant wall_start_{};
  double cpu_start_ = 0;
  double observer_wall_ = 0, observer_cpu_ = 0;
  double last_gap_;  ///< at the iteration reported next, or NaN
};

}  // namespace adbo::detail
