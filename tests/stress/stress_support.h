#pragma once

#include <chrono>
#include <cstdint>

namespace adbo::test {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define ADBO_STRESS_IS_INSTRUMENTED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define ADBO_STRESS_IS_INSTRUMENTED 1
#endif
#endif

/// Divides the number of repetitions in builds that are an order of magnitude slower: with either kind of
/// build a test takes a few seconds.
#ifdef ADBO_STRESS_IS_INSTRUMENTED
inline constexpr std::uint64_t kSlowdown = 20;
#elif defined(ADBO_TORTURE)
inline constexpr std::uint64_t kSlowdown = 4;
#else
inline constexpr std::uint64_t kSlowdown = 1;
#endif

/// For tests that would take very long where many threads compete for the cores and each hand-over costs a
/// time slice: they end early then, with all checks of what was done.
class TimeLimit {
 public:
  [[nodiscard]] bool is_over() const { return std::chrono::steady_clock::now() >= end_; }

 private:
  std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + std::chrono::seconds(5);
};

/// Marsaglia's xorshift generator. Not for statistics: for uneven loads and payloads that differ.
class XorShift {
 public:
  explicit XorShift(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 1) {}

  std::uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }
  /// In [0, bound), from the upper bits.
  std::uint64_t below(std::uint64_t bound) { return (next() >> 32) % bound; }

 private:
  std::uint64_t state_;
};

}  // namespace adbo::test
