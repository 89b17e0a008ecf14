#pragma once
// Seeded data for the tests: the same numbers on every standard library.

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>

namespace adbo::test {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  /// In (0, 1).
  double uniform() { return (static_cast<double>(engine_() >> 11) + 0.5) * 0x1.0p-53; }
  /// Standard normal, Box and Muller.
  double normal() {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }
  /// In [0, count).
  std::uint64_t below(std::uint64_t count) { return engine_() % count; }

 private:
  std::mt19937_64 engine_;
};

}  // namespace adbo::test
