// Curvature blocks in checkpoints: every bit comes back, and half of them where the block is symmetric.
#include "methods/running_estimates/persist_block.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace {

using adbo::StateArchive;
using adbo::detail::is_symmetric;
using adbo::detail::persist_block;
using Block = std::vector<double>;

Block symmetric_block(std::size_t size) {
  Block block(size * size);
  for (std::size_t row = 0; row < size; ++row) {
    for (std::size_t column = 0; column <= row; ++column) {
      block[row * size + column] = block[column * size + row] =
          std::sin(1.0 + static_cast<double>(row * size + column));
    }
  }
  return block;
}

std::vector<std::byte> saved(Block block, std::size_t size) {
  std::vector<std::byte> image;
  StateArchive archive = StateArchive::saving_to(image);
  persist_block(archive, block, size);
  return image;
}

bool comes_back(const Block& block, std::size_t size) {
  const std::vector<std::byte> image = saved(block, size);
  StateArchive archive = StateArchive::loading_from(image);
  Block loaded{1, 2, 3};
  persist_block(archive, loaded, size);
  const auto same_bits = [](double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
  };
  return archive.bytes_left() == 0 && std::ranges::equal(loaded, block, same_bits);
}

TEST_CASE("curvature blocks: what is saved comes back, bit for bit") {
  CHECK(comes_back({}, 7));
  for (const std::size_t size : {1U, 2U, 31U, 32U, 33U, 100U}) {
    INFO(size);
    const Block block = symmetric_block(size);
    CHECK(is_symmetric(block, size));
    CHECK(comes_back(block, size));
    CHECK(saved(block, size).size() == 1 + sizeof(double) * size * (size + 1) / 2);
    // One entry of another sign, of any place off the diagonal: then it is no half that is saved.
    for (const std::size_t row : {std::size_t{0}, size / 2, size - 1}) {
      for (const std::size_t column : {std::size_t{0}, size / 3, size - 1}) {
        if (row == column) continue;
        Block other = block;
        other[row * size + column] = -other[row * size + column];
        CHECK_FALSE(is_symmetric(other, size));
        CHECK(comes_back(other, size));
        CHECK(saved(other, size).size() == 1 + sizeof(double) * size * size);
      }
    }
  }
}

TEST_CASE("curvature blocks: zeros of two signs differ, equal NaNs do not") {
  CHECK_FALSE(is_symmetric(Block{1, 0.0, -0.0, 1}, 2));
  CHECK(comes_back({1, 0.0, -0.0, 1}, 2));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(is_symmetric(Block{nan, nan, nan, 1}, 2));
  CHECK(comes_back({nan, nan, nan, 1}, 2));
}

TEST_CASE("curvature blocks: what is cut short or of no known form is refused, before memory is taken") {
  const std::vector<std::byte> image = saved(symmetric_block(9), 9);
  for (std::size_t bytes = 0; bytes < image.size(); ++bytes) {
    StateArchive archive = StateArchive::loading_from(std::span(image).first(bytes));
    Block loaded;
    CHECK_THROWS_AS(persist_block(archive, loaded, 9), adbo::BadState);
  }
  std::vector<std::byte> other = image;
  other[0] = std::byte{3};
  StateArchive archive = StateArchive::loading_from(other);
  Block loaded;
  CHECK_THROWS_AS(persist_block(archive, loaded, 9), adbo::BadState);
  StateArchive large = StateArchive::loading_from(image);
  CHECK_THROWS_AS(persist_block(large, loaded, std::size_t{1} << 30), adbo::BadState);
}

}  // namespace
