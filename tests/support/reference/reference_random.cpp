#include "support/reference/reference_random.h"

#include <cmath>

namespace adbo::reference {
namespace {

std::uint64_t rotate_left(std::uint64_t word, int bits) { return (word << bits) | (word >> (64 - bits)); }

/// splitmix64 (Steele, Lea, Flood 2014): advances the counter, returns its finalizer.
std::uint64_t splitmix64(std::uint64_t& counter) {
  counter += 0x9e3779b97f4a7c15u;
  std::uint64_t word = counter;
  word ^= word >> 30;
  word *= 0xbf58476d1ce4e5b9u;
  word ^= word >> 27;
  word *= 0x94d049bb133111ebu;
  word ^= word >> 31;
  return word;
}

}  // namespace

DelayStream::DelayStream(std::uint64_t seed, std::uint64_t stream) {
  std::uint64_t counter = splitmix64(seed) ^ (0xd1342543de82ef95u * stream);
  s0_ = splitmix64(counter);
  s1_ = splitmix64(counter);
  s2_ = splitmix64(counter);
  s3_ = splitmix64(counter);
}

/// xoshiro256++ (Blackman, Vigna 2019).
std::uint64_t DelayStream::next_word() {
  const std::uint64_t word = rotate_left(s0_ + s3_, 23) + s0_;
  const std::uint64_t shifted = s1_ << 17;
  s2_ ^= s0_;
  s3_ ^= s1_;
  s1_ ^= s2_;
  s0_ ^= s3_;
  s2_ ^= shifted;
  s3_ = rotate_left(s3_, 45);
  return word;
}

double DelayStream::next_uniform() { return std::ldexp(static_cast<double>(next_word() >> 11), -53); }

double DelayStream::standard_normal() {
  if (second_is_waiting_) {
    second_is_waiting_ = false;
    return second_;
  }
  for (;;) {
    const double a = 2 * next_uniform() - 1;
    const double b = 2 * next_uniform() - 1;
    const double r2 = a * a + b * b;
    if (r2 == 0 || r2 >= 1) continue;
    const double stretch = std::sqrt(-2 * std::log(r2) / r2);
    second_is_waiting_ = true;
    second_ = b * stretch;
    return a * stretch;
  }
}

}  // namespace adbo::reference
