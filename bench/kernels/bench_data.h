#pragma once
// Data and instruction sets for the kernel benchmarks.

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numbers>
#include <random>
#include <span>
#include <vector>

namespace adbo::bench {

/// Seeded standard normals.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  double uniform() { return (static_cast<double>(engine_() >> 11) + 0.5) * 0x1.0p-53; }
  double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform()); }

 private:
  std::mt19937_64 engine_;
};

inline std::vector<double> normals(std::size_t size, double scale, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> v(size);
  for (double& entry : v) entry = scale * random.normal();
  return v;
}

inline std::vector<std::int32_t> cyclic_labels(std::size_t rows, int classes) {
  std::vector<std::int32_t> labels(rows);
  for (std::size_t r = 0; r < rows; ++r)
    labels[r] = static_cast<std::int32_t>(r * 7 % static_cast<std::size_t>(classes));
  return labels;
}

/// Floating-point operations per second, over the processor time of this thread.
inline void count_flops(benchmark::State& state, double flops_per_iteration) {
  state.counters["FLOPS"] =
      benchmark::Counter(flops_per_iteration, benchmark::Counter::kIsIterationInvariantRate);
}

}  // namespace adbo::bench
