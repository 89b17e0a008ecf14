#pragma once

#include <cstdint>

#include "adbo/random.h"

namespace adbo::app {

/// What a random draw of the preparation is for. Each purpose has streams of its own, far from those of the
/// engine's delays (0, 1, 2, ...), so that changing one choice leaves the draws of the others alone.
enum class DrawPurpose : std::uint64_t { kSplit = 1, kCorruption, kPooling, kStart, kHoldout };

[[nodiscard]] inline RandomStream random_stream(std::uint64_t seed, DrawPurpose purpose,
                                                std::uint64_t index = 0) {
  return RandomStream(seed, (static_cast<std::uint64_t>(purpose) << 48) + index);
}

}  // namespace adbo::app
