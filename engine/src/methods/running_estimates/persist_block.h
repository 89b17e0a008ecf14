#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "adbo/state_archive.h"

namespace adbo::detail {

/// Whether [size x size] numbers equal their transpose to the last bit.
inline bool is_symmetric(std::span<const double> block, std::size_t size) {
  constexpr std::size_t kTile = 32;  // both tiles in a core's own cache, whatever the stride
  const auto bits = [&](std::size_t row, std::size_t column) {
    return std::bit_cast<std::uint64_t>(block[row * size + column]);
  };
  for (std::size_t top = 0; top < size; top += kTile) {
    for (std::size_t left = 0; left <= top; left += kTile) {
      for (std::size_t row = top; row < std::min(top + kTile, size); ++row) {
        for (std::size_t column = left; column < std::min(left + kTile, row); ++column) {
          if (bits(row, column) != bits(column, row)) return false;
        }
      }
    }
  }
  return true;
}

/// Carries a curvature block, which is empty or [size x size], as half of it where it is symmetric: blocks
/// are most of a checkpoint.
inline void persist_block(StateArchive& archive, std::vector<double>& block, std::size_t size) {
  enum class Form : std::uint8_t { kNone, kSymmetric, kWhole };
  auto form = Form::kNone;
  if (!archive.is_loading() && !block.empty()) {
    form = is_symmetric(block, size) ? Form::kSymmetric : Form::kWhole;
  }
  archive(form);
  archive.require(form <= Form::kWhole, "a curvature block of no known form");
  if (archive.is_loading()) {
    const std::size_t numbers = form == Form::kNone ? 0 : size * size;
    archive.require(numbers / 2 <= archive.bytes_left() / sizeof(double), "the state ends too early");
    block.resize(numbers);
  }
  if (form == Form::kWhole) archive.values(block);
  if (form != Form::kSymmetric) return;
  for (std::size_t row = 0; row < size; ++row) {
    archive.values(std::span(block).subspan(row * size, row + 1));
  }
  if (!archive.is_loading()) return;
  for (std::size_t row = 0; row < size; ++row) {
    for (std::size_t column = 0; column < row; ++column) {
      block[column * size + row] = block[row * size + column];
    }
  }
}

}  // namespace adbo::detail
