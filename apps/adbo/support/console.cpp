#include "support/console.h"

#include <cerrno>
#include <ostream>
#include <system_error>

#include "io/error.h"

namespace adbo::app {

void Console::deliver(std::string_view text) const {
  errno = 0;
  if (out_ << text << std::flush) return;
  const int reason = errno;
  throw io::OutputError("stdout", reason == 0
                                      ? "cannot be written"
                                      : "cannot be written: " + std::generic_category().message(reason));
}

void Console::error(std::string_view message) const { err_ << "adbo: error: " << message << std::endl; }

void Console::note(std::string_view message) const {
  if (!quiet_) err_ << "adbo: " << message << std::endl;
}

void Console::progress(std::string_view message) const {
  if (progress_) note(message);
}

void Console::detail(std::string_view message) const {
  if (verbose_ && !quiet_) err_ << "adbo: " << message << std::endl;
}

}  // namespace adbo::app
