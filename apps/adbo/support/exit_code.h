#pragma once

#include <stdexcept>

namespace adbo::app {

/// What the process tells its caller. Scripts depend on these numbers.
enum class ExitCode {
  kFinished = 0,  ///< a limit included: summary.json has the status
  kInternal = 1,
  kUsage = 2,  ///< usage or configuration
  kInputData = 3,
  kDiverged = 4,
  kWorkerFailed = 5,
  kNotConverged = 6,  ///< with --require-converged
  kSolveFailed = 7,   ///< a system or lower level that the method has to solve
  kOutput = 8,        ///< results could not be written: full disk, folder gone, closed stdout
  kHungUp = 129,
  kInterrupted = 130,
  kTerminated = 143,
};

/// What there was has been saved; `signal` is one of those that StopSignal takes.
constexpr ExitCode stopped_by(int signal) { return static_cast<ExitCode>(128 + signal); }

/// The command line, a configuration file or a combination of settings is wrong. what() is a whole sentence
/// that names the setting, its value and what was expected.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What is to be gone on with is of another run.
class UnfitCheckpoint : public UsageError {
 public:
  using UsageError::UsageError;
};

/// The data can be read and yet not be used: no labels, one class, widths that differ.
class DataError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace adbo::app
