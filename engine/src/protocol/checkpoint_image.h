#pragma once
// The frame of a checkpoint:
//   magic [8] | checksum [8] of all that follows | format [4] | version, iteration, identity | state

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "adbo/checkpoint.h"
#include "adbo/state_archive.h"

namespace adbo::detail {

/// Replaces `image` by the beginning of a checkpoint; the state is to be appended.
void begin_checkpoint(std::vector<std::byte>& image, CheckpointFacts facts);
/// After the state: the checksum.
void seal_checkpoint(std::vector<std::byte>& image);

struct OpenedCheckpoint {
  CheckpointFacts facts;
  std::span<const std::byte> state;
};
/// BadState where the frame or the checksum is wrong.
[[nodiscard]] OpenedCheckpoint open_checkpoint(std::span<const std::byte> image);

}  // namespace adbo::detail
