#pragma once

// ADBO_YIELD_POINT() marks a place between two operations where another thread may slip in. It is nothing in
// the library. Torture builds define ADBO_TORTURE: the thread then gives up its core there at random, so that
// windows of a few nanoseconds become as long as another thread's time slice. A test may also define the
// macro itself, before it includes anything of this folder.

#if defined(ADBO_YIELD_POINT)

// As the test defines it.

#elif defined(ADBO_TORTURE)

#include <atomic>
#include <cstdint>
#include <thread>

namespace adbo::detail {

/// Yields once in four calls. Each thread draws from its own xorshift sequence, seeded by the order in which
/// the threads first come here.
inline void torture_yield() noexcept {
  static std::atomic<std::uint64_t> threads_seen{0};
  thread_local std::uint64_t state =
      0x9E3779B97F4A7C15u * (threads_seen.fetch_add(1, std::memory_order_relaxed) + 1);
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  if ((state >> 60) < 4) std::this_thread::yield();
}

}  // namespace adbo::detail

#define ADBO_YIELD_POINT() ::adbo::detail::torture_yield()

#else

#define ADBO_YIELD_POINT() static_cast<void>(0)

#endif
