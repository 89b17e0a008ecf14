#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "adbo/state_archive.h"

namespace adbo {

/// A small seeded generator (xoshiro256++, seeded by splitmix64) with distributions of our own: the standard
/// library's distributions differ between implementations, and a seed has to mean the same bits everywhere.
/// Streams of one seed are independent for all practical purposes.
class RandomStream {
 public:
  using State = std::array<std::uint64_t, 4>;

  RandomStream(std::uint64_t seed, std::uint64_t stream);

  [[nodiscard]] std::uint64_t next();
  /// Uniform in [0, 1) with 53 bits.
  [[nodiscard]] double uniform();
  /// Uniform in {0, ..., bound - 1}; bound >= 1. Exactly uniform (rejection).
  [[nodiscard]] std::uint64_t below(std::uint64_t bound);
  /// Standard normal (polar method).
  [[nodiscard]] double normal();
  /// A uniformly random order of 0 .. size-1 (Fisher-Yates).
  [[nodiscard]] std::vector<std::size_t> permutation(std::size_t size);

  /// Where the stream stands.
  void persist(StateArchive& archive) { archive(state_, spare_normal_, has_spare_normal_); }

 private:
  State state_;
  double spare_normal_ = 0;
  bool has_spare_normal_ = false;
};

}  // namespace adbo
