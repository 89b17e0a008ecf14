#pragma once
// The order in which answers came: all that a run under the real clock does not have from its options.

#include <cstdint>

namespace adbo {

/// The master took an answer.
struct Arrival {
  std::uint32_t worker = 0;
  double seconds = 0;    ///< of the run
  bool is_lost = false;  ///< it took none: the worker missed worker_deadline
};

/// Hears of the arrivals of a run as they happen, on the master's thread. What it throws ends the run and
/// comes out of solve().
class ArrivalRecorder {
 public:
  virtual ~ArrivalRecorder() = default;
  virtual void arrived(const Arrival& arrival) = 0;
};

}  // namespace adbo
