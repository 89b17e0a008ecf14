#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace adbo::io {

/// A PNG file of 8-bit grey (channels 1) or RGB (channels 3) pixels, [height x width x channels]. The same
/// bytes for the same pixels. std::invalid_argument for other channels, an empty picture, or a list of
/// another size.
[[nodiscard]] std::string encode_png(std::span<const std::uint8_t> pixels, std::size_t height,
                                     std::size_t width, std::size_t channels);

/// Base64 with padding, on one line.
[[nodiscard]] std::string encode_base64(std::string_view bytes);

}  // namespace adbo::io
