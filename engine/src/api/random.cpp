#include "adbo/random.h"

#include <bit>
#include <cmath>
#include <numeric>

namespace adbo {
namespace {

/// splitmix64: spreads any seed, even 0, over the generator's whole state.
std::uint64_t splitmix(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

}  // namespace

RandomStream::RandomStream(std::uint64_t seed, std::uint64_t stream) {
  // Two rounds keep (seed, stream) and (seed + 1, stream - 1) apart.
  std::uint64_t mixer = seed;
  std::uint64_t base = splitmix(mixer) ^ (stream * 0xd1342543de82ef95ULL);
  for (std::uint64_t& word : state_) word = splitmix(base);
}

std::uint64_t RandomStream::next() {
  const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double RandomStream::uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

std::uint64_t RandomStream::below(std::uint64_t bound) {
  // Draws above the largest multiple of bound would favour small results; they are drawn again.
  const std::uint64_t excess = (UINT64_MAX % bound + 1) % bound;
  std::uint64_t draw = next();
  while (draw > UINT64_MAX - excess) draw = next();
  return draw % bound;
}

double RandomStream::normal() {
  if (has_spare_normal_) {
    has_spare_normal_ = false;
    return spare_normal_;
  }
  double u = 0, v = 0, square = 0;
  do {
    u = 2 * uniform() - 1;
    v = 2 * uniform() - 1;
    square = u * u + v * v;
  } while (square >= 1 || square == 0);
  const double factor = std::sqrt(-2 * std::log(square) / square);
  spare_normal_ = v * factor;
  has_spare_normal_ = true;
  return u * factor;
}

std::vector<std::size_t> RandomStream::permutation(std::size_t size) {
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t k = size; k > 1; --k) std::swap(order[k - 1], order[below(k)]);
  return order;
}

}  // namespace adbo
