#include "support/console.h"

#include <cerrno>
#include <ostream>
#include <system_error>

#include "io/error.h"
#include "io/text.h"

namespace adbo::app {

void Console::deliver(std::string_view text) const {
  errno = 0;
  if (out_ << text << std::flush) return;
  const int reason = errno;
  throw io::OutputError("stdout", reason == 0
                                      ? "cannot be written"
                                      : "cannot be written: " + std::generic_category().message(reason));
}

/// Names of files and what was given are anybody's text.
void Console::error(std::string_view message) const { say("error: ", message); }

void Console::warning(std::string_view message) const { say("warning: ", message); }

void Console::say(std::string_view kind, std::string_view message) const {
  err_ << "adbo: " << kind << io::detail::printable(message) << std::endl;
}

void Console::note(std::string_view message) const {
  if (!quiet_) say("", message);
}

void Console::progress(std::string_view message) const {
  if (progress_) note(message);
}

void Console::detail(std::string_view message) const {
  if (verbose_) note(message);
}

}  // namespace adbo::app
