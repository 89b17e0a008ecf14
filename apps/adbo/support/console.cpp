#include "support/console.h"

#include <ostream>

namespace adbo::app {

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
