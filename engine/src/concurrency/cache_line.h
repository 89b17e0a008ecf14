#pragma once

#include <cstddef>

namespace adbo::detail {

/// Bytes that two cores exchange at a time. A constant of our own: the value of
/// std::hardware_destructive_interference_size may change with compiler flags, which would make it part of
/// the ABI (and g++ warns about that when a header uses it).
inline constexpr std::size_t kCacheLine = 64;

}  // namespace adbo::detail
