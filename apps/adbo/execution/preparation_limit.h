#pragma once

namespace adbo::app {

/// While it lives, the process ends with a message and exit code 2 when `seconds` are over (0: never): a file
/// that is a pipe may never end, a problem may take long to make, and there is nothing yet that would have to
/// be saved. One object at a time.
class PreparationLimit {
 public:
  explicit PreparationLimit(double seconds);
  ~PreparationLimit();
  PreparationLimit(const PreparationLimit&) = delete;
  PreparationLimit& operator=(const PreparationLimit&) = delete;
};

}  // namespace adbo::app
