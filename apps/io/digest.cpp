#include "io/digest.h"

#include <fmt/format.h>

namespace adbo::io {

Digest& Digest::update(std::string_view bytes) {
  constexpr std::uint64_t kPrime = 0x100000001b3u;
  std::uint64_t state = state_;
  for (const char byte : bytes) state = (state ^ static_cast<unsigned char>(byte)) * kPrime;
  state_ = state;
  return *this;
}

std::string Digest::text() const { return fmt::format("fnv1a64:{:016x}", state_); }

}  // namespace adbo::io
