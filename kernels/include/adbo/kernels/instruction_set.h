#pragma once
// Which version of the inner loops runs: they are compiled for several instruction sets and chosen at run
// time.

#include <string_view>

namespace adbo::kernels {

/// The instruction set that a loss constructed now would use: "AVX-512", "AVX2", "SSE4.1", "NEON" or
/// "baseline" (that of every processor the program was compiled for: SSE2 on x86-64). The text lives as long
/// as the program.
[[nodiscard]] std::string_view active_instruction_set();

}  // namespace adbo::kernels
