#pragma once

namespace adbo::app {

/// While it lives, the process ends with a message and exit code 2 when `seconds` are over (0: never): a file
/// that is a pipe may never end, a problem may take long to make, and there is nothing yet that would have to
/// be saved. One object at a time.
class ReadLimit {
 public:
  explicit ReadLimit(double seconds);
  ~ReadLimit();
  ReadLimit(const ReadLimit&) = delete;
  ReadLimit& operator=(const ReadLimit&) = delete;
};

}  // namespace adbo::app
