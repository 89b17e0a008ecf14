#pragma once

#include "adbo/solver.h"

namespace adbo::app {

/// From listen() on, while it lives, the first SIGINT, SIGTERM or SIGHUP asks for an orderly end: the
/// attached solver stops after the current iteration and what there is gets written. Where no solver is
/// attached, as while results are measured, a line on stderr acknowledges it, unless `quiet`. A second SIGINT
/// or SIGTERM ends the process at once. A SIGHUP that the process was started to ignore (nohup) stays
/// ignored. One object at a time.
class StopSignal {
 public:
  explicit StopSignal(bool quiet) : quiet_(quiet) {}
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  /// Called when there is something to save: before that, while data are read and a problem is made, a signal
  /// ends the process at once. Again: nothing.
  void listen();
  /// The solver to stop; nullptr when it is done. It has to outlive its attachment.
  void attach(Solver* solver) noexcept;
  /// The signal that came first, or 0.
  [[nodiscard]] int received() const noexcept;

 private:
  bool quiet_;
  bool is_listening_ = false;
};

}  // namespace adbo::app
