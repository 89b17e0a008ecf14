#pragma once

// ADBO_YIELD_POINT() for E5: fills the processor's store buffer, in which stores wait while later loads go
// ahead. Stores leave it in order on x86. One that follows some dozens of cache misses is therefore seen by
// other cores a microsecond late, where it would be some nanoseconds; a sequentially consistent store waits
// for its turn and lets no load go ahead. Include this before anything of engine/src/concurrency.

#include <cstddef>
#include <cstdint>

namespace adbo::test {

/// Set by the thread whose stores are to be late; the others are left alone.
inline thread_local bool clogs_its_stores = false;

inline constexpr std::size_t kFarBytes = std::size_t{1} << 26;  // beyond the caches of a core
inline volatile std::uint8_t far_memory[kFarBytes];

inline void clog_store_buffer() noexcept {
  if (!clogs_its_stores) return;
  constexpr std::size_t kStride = 4096 + 64;  // another page, and another set of the cache
  constexpr int kStores = 40;                 // below the depth of a store buffer
  static std::size_t position = 0;            // of the one thread that clogs
  for (int i = 0; i < kStores; ++i) {
    position = (position + kStride) % kFarBytes;
    far_memory[position] = 1;
  }
}

}  // namespace adbo::test

#define ADBO_YIELD_POINT() ::adbo::test::clog_store_buffer()
