#pragma once

#include <string>

#include "support/console.h"
#include "support/exit_code.h"

namespace adbo::app {

/// Writes report.html into the folder of a run or of a comparison: one page that needs no other file, no
/// network and no script. UsageError when the folder holds neither; DataError when its files cannot be read.
[[nodiscard]] ExitCode write_report(const std::string& folder, const Console& console);

}  // namespace adbo::app
