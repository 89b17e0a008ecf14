#pragma once

#include <optional>
#include <string>

namespace adbo::detail {

/// Why something that had to be solved was not; nothing where it was.
using SolveFailure = std::optional<std::string>;

}  // namespace adbo::detail
