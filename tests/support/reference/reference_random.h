#pragma once
// The random numbers of the injected delays, transcribed from their definition: xoshiro256++ seeded by
// splitmix64, standard normals by the polar method. The reference must draw the same delays without sharing
// the code.

#include <cstdint>

namespace adbo::reference {

/// Stream number `stream` of a seed.
class DelayStream {
 public:
  DelayStream(std::uint64_t seed, std::uint64_t stream);
  /// The next standard normal number.
  double standard_normal();

 private:
  std::uint64_t next_word();
  double next_uniform();  // in [0, 1), 53 bits

  std::uint64_t s0_, s1_, s2_, s3_;
  bool second_is_waiting_ = false;
  double second_ = 0;  // the polar method makes normals in pairs
};

}  // namespace adbo::reference
