#pragma once

#include <atomic>

// The memory order of every synchronizing operation in this folder, named by the edge it belongs to
// (MEMORY_MODEL.md). Operations that are not listed here touch an atomic from its only writer and are
// relaxed.
//
// Each ADBO_WEAKEN_* macro breaks one side of one edge. They exist for the tests in tests/negative, which
// must fail with them: a test that passes with and without the order does not test the order. Nothing else
// may define them.

namespace adbo::detail::order {

// E1: the ring's producer publishes a message -> the consumer sees it.
#ifdef ADBO_WEAKEN_E1_RELEASE
inline constexpr std::memory_order kE1Release = std::memory_order_relaxed;
#else
inline constexpr std::memory_order kE1Release = std::memory_order_release;
#endif
#ifdef ADBO_WEAKEN_E1_ACQUIRE
inline constexpr std::memory_order kE1Acquire = std::memory_order_relaxed;
#else
inline constexpr std::memory_order kE1Acquire = std::memory_order_acquire;
#endif

// E2: the ring's consumer releases a slot -> the producer writes into it again.
#ifdef ADBO_WEAKEN_E2_RELEASE
inline constexpr std::memory_order kE2Release = std::memory_order_relaxed;
#else
inline constexpr std::memory_order kE2Release = std::memory_order_release;
#endif
#ifdef ADBO_WEAKEN_E2_ACQUIRE
inline constexpr std::memory_order kE2Acquire = std::memory_order_relaxed;
#else
inline constexpr std::memory_order kE2Acquire = std::memory_order_acquire;
#endif

// E3: the master hands the current snapshot to a reader -> the reader reads it.
#ifdef ADBO_WEAKEN_E3_RELEASE
inline constexpr std::memory_order kE3Release = std::memory_order_relaxed;
#else
inline constexpr std::memory_order kE3Release = std::memory_order_release;
#endif
#ifdef ADBO_WEAKEN_E3_ACQUIRE
inline constexpr std::memory_order kE3Acquire = std::memory_order_relaxed;
#else
inline constexpr std::memory_order kE3Acquire = std::memory_order_acquire;
#endif

// E4: everything before ring() -> everything after the ticket() that counts this ring. Release and acquire
// would do; the same increment also serves E5, which needs more.
#ifdef ADBO_WEAKEN_E4_RELEASE
inline constexpr std::memory_order kBellIncrement = std::memory_order_relaxed;
#else
inline constexpr std::memory_order kBellIncrement = std::memory_order_seq_cst;  // E4 and E5
#endif
#ifdef ADBO_WEAKEN_E4_ACQUIRE
inline constexpr std::memory_order kE4Acquire = std::memory_order_relaxed;
#else
inline constexpr std::memory_order kE4Acquire = std::memory_order_seq_cst;
#endif

// E5: "the ringer sees the sleeper, or the sleeper sees the ring": two stores, each followed by a load of the
// other one. All four are sequentially consistent (the increment above is the fourth).
#ifdef ADBO_WEAKEN_E5
inline constexpr std::memory_order kE5RaiseFlag = std::memory_order_relaxed;
#else
inline constexpr std::memory_order kE5RaiseFlag = std::memory_order_seq_cst;
#endif
inline constexpr std::memory_order kE5Recheck = std::memory_order_seq_cst;
inline constexpr std::memory_order kE5ReadFlag = std::memory_order_seq_cst;

}  // namespace adbo::detail::order
