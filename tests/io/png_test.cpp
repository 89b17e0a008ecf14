#include "io/png.h"

#include <doctest/doctest.h>
#include <zlib.h>

#include <stdexcept>
#include <vector>

using adbo::io::encode_base64;
using adbo::io::encode_png;

TEST_CASE("base64: the examples of RFC 4648") {
  CHECK(encode_base64("") == "");
  CHECK(encode_base64("f") == "Zg==");
  CHECK(encode_base64("fo") == "Zm8=");
  CHECK(encode_base64("foo") == "Zm9v");
  CHECK(encode_base64("foobar") == "Zm9vYmFy");
  CHECK(encode_base64("\xFF\xFE\xFD") == "//79");
}

namespace {

std::size_t big_endian(const std::string& bytes, std::size_t at) {
  std::size_t value = 0;
  for (std::size_t k = 0; k < 4; ++k) value = value << 8 | static_cast<unsigned char>(bytes[at + k]);
  return value;
}

/// The unpacked lines of a file with one IDAT chunk; checks every checksum on the way.
std::string unpacked_lines(const std::string& file, std::size_t size) {
  std::string lines(size, '\0');
  for (std::size_t at = 8; at < file.size();) {
    const std::size_t length = big_endian(file, at);
    const auto* const checked = reinterpret_cast<const Bytef*>(file.data() + at + 4);
    CHECK(crc32(0, checked, static_cast<uInt>(length + 4)) == big_endian(file, at + 8 + length));
    if (file.substr(at + 4, 4) == "IDAT") {
      uLongf unpacked = size;
      REQUIRE(uncompress(reinterpret_cast<Bytef*>(lines.data()), &unpacked,
                         reinterpret_cast<const Bytef*>(file.data() + at + 8), length) == Z_OK);
      CHECK(unpacked == size);
    }
    at += 12 + length;
  }
  return lines;
}

}  // namespace

TEST_CASE("PNG: header, lines and checksums of a grey and of a colour picture") {
  const std::vector<std::uint8_t> grey{0, 1, 2, 253, 254, 255};
  const std::string file = encode_png(grey, 2, 3, 1);
  CHECK(file.substr(0, 8) == "\x89PNG\r\n\x1a\n");
  CHECK(big_endian(file, 16) == 3);
  CHECK(big_endian(file, 20) == 2);
  CHECK(file.substr(24, 2) == std::string("\x08\x00", 2));
  CHECK(unpacked_lines(file, 8) == std::string("\0\0\1\2\0\xFD\xFE\xFF", 8));
  const std::string colour = encode_png(grey, 1, 2, 3);
  CHECK(colour[25] == 2);
  CHECK(unpacked_lines(colour, 7) == std::string("\0\0\1\2\xFD\xFE\xFF", 7));
}

TEST_CASE("PNG: what is no picture is refused") {
  const std::vector<std::uint8_t> pixels(6);
  CHECK_THROWS_AS((void)encode_png(pixels, 2, 3, 2), std::invalid_argument);
  CHECK_THROWS_AS((void)encode_png(pixels, 2, 2, 1), std::invalid_argument);
  CHECK_THROWS_AS((void)encode_png({}, 0, 3, 1), std::invalid_argument);
}
