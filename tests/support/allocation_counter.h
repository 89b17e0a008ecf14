#pragma once

#include <cstdint>

namespace adbo::test {

/// Calls of the global operator new by the calling thread so far. Link allocation_counter.cpp, which replaces
/// it.
[[nodiscard]] std::uint64_t thread_allocations() noexcept;

}  // namespace adbo::test
