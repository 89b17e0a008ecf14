#pragma once

#include "adbo/measures.h"
#include "settings/settings.h"

namespace adbo::app {

/// How exactly, and with how many threads, lower levels are re-solved; `automatic` is the tolerance when none
/// is given.
[[nodiscard]] ResolveOptions resolve_options(const Settings& settings, double automatic);

}  // namespace adbo::app
