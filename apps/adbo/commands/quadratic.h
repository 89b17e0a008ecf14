#pragma once

#include "commands/prepared_task.h"

namespace adbo::app {

/// A member of the quadratic family, whose solution is known.
[[nodiscard]] PreparedTask prepare_quadratic(const Settings& settings);

}  // namespace adbo::app
