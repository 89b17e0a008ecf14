#include "io/png.h"

#include <zlib.h>

#include <stdexcept>
#include <string_view>
#include <vector>

namespace adbo::io {
namespace {

void append_big_endian(std::string& bytes, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>((value >> shift) & 0xFF);
}

/// Length, type, content, checksum of type and content.
void append_chunk(std::string& file, std::string_view type, std::string_view content) {
  append_big_endian(file, static_cast<std::uint32_t>(content.size()));
  const std::size_t begin = file.size();
  file += type;
  file += content;
  const auto* const checked = reinterpret_cast<const Bytef*>(file.data() + begin);
  append_big_endian(file,
                    static_cast<std::uint32_t>(crc32(0, checked, static_cast<uInt>(file.size() - begin))));
}

/// Every line begins with the number of its filter: 0, none.
std::string filtered(std::span<const std::uint8_t> pixels, std::size_t height, std::size_t line) {
  std::string bytes;
  bytes.reserve(height * (line + 1));
  for (std::size_t r = 0; r < height; ++r) {
    bytes += '\0';
    bytes.append(reinterpret_cast<const char*>(pixels.data()) + r * line, line);
  }
  return bytes;
}

std::string deflated(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string packed(size, '\0');
  const int code = compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                             reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), Z_BEST_COMPRESSION);
  if (code != Z_OK) throw std::runtime_error("a picture could not be packed");
  packed.resize(size);
  return packed;
}

}  // namespace

std::string encode_png(std::span<const std::uint8_t> pixels, std::size_t height, std::size_t width,
                       std::size_t channels) {
  if ((channels != 1 && channels != 3) || height == 0 || width == 0 ||
      pixels.size() != height * width * channels) {
    throw std::invalid_argument("encode_png: the pixels are no grey or RGB picture of this size");
  }
  constexpr char kGrey = 0, kRgb = 2;
  std::string header;
  append_big_endian(header, static_cast<std::uint32_t>(width));
  append_big_endian(header, static_cast<std::uint32_t>(height));
  header +=
      {8, channels == 1 ? kGrey : kRgb, 0, 0, 0};  // bits; then compression, filter, interlace: the only ones
  std::string file("\x89PNG\r\n\x1a\n", 8);
  append_chunk(file, "IHDR", header);
  append_chunk(file, "IDAT", deflated(filtered(pixels, height, width * channels)));
  append_chunk(file, "IEND", "");
  return file;
}

std::string encode_base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  const auto byte = [&bytes](std::size_t k) {
    return k < bytes.size() ? static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[k])) : 0U;
  };
  for (std::size_t k = 0; k < bytes.size(); k += 3) {
    const std::uint32_t group = byte(k) << 16 | byte(k + 1) << 8 | byte(k + 2);
    text += kDigits[group >> 18];
    text += kDigits[group >> 12 & 63];
    text += k + 1 < bytes.size() ? kDigits[group >> 6 & 63] : '=';
    text += k + 2 < bytes.size() ? kDigits[group & 63] : '=';
  }
  return text;
}

}  // namespace adbo::io
