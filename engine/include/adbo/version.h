#pragma once

#include <string_view>

#define ADBO_VERSION_MAJOR 0
#define ADBO_VERSION_MINOR 1
#define ADBO_VERSION_PATCH 0

namespace adbo {

/// "0.1.0", of the library that is linked (the macros are of the headers that were included).
[[nodiscard]] std::string_view version();
/// Compiler, build type and the versions of oneTBB and Eigen it was built with, one per line.
[[nodiscard]] std::string_view build_description();
/// The vector instruction set that the kernels use on this machine, for example "AVX3".
[[nodiscard]] std::string_view instruction_set();

}  // namespace adbo
