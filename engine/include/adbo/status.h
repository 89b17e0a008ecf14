#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace adbo {

/// What went wrong with a *call*. How a *run* ended is a Termination (summary.h): the two are different
/// things.
enum class StatusCode {
  kOk,
  kInvalidOption,      ///< an option outside its range, unknown, or without effect for the method
  kInvalidProblem,     ///< the problem does not fit together (dimensions, supports, no workers)
  kInvalidCheckpoint,  ///< damaged, or of another problem, option or version
  kInternal,           ///< a defect of this library
};
[[nodiscard]] std::string_view to_string(StatusCode code);

/// The outcome of a call: kOk, or a code with one sentence that names the thing, its value and its range.
class Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  [[nodiscard]] bool ok() const { return code_ == StatusCode::kOk; }
  [[nodiscard]] StatusCode code() const { return code_; }
  [[nodiscard]] const std::string& message() const { return message_; }

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

}  // namespace adbo
