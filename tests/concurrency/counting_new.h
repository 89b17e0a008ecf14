#pragma once

#include <cstdint>

namespace adbo::test {

/// Calls of the global operator new so far, by any thread. Link counting_new.cpp, which replaces the
/// operator.
[[nodiscard]] std::uint64_t allocations() noexcept;

}  // namespace adbo::test
