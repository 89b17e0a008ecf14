#pragma once

#include <string>
#include <vector>

#include "commands/command.h"
#include "settings/settings.h"

namespace adbo::app {

/// Goes on with the run whose output is in `folder`, from its newest whole checkpoint, or from the start
/// where there is none. `flags`: what is to be different, see resumed_settings(). A run that is over is left
/// as it is, unless it is to have more iterations.
[[nodiscard]] ExitCode resume_run(const std::string& folder, const std::vector<Assignment>& flags,
                                  const Environment& environment);

}  // namespace adbo::app
