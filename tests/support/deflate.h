#pragma once

#include <zlib.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace adbo::io::test {

/// Deflated, in the wrapping that zlib's window bits ask for.
inline std::string deflated(std::string_view plain, int window_bits) {
  z_stream stream{};
  if (deflateInit2(&stream, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("deflateInit2 failed");
  }
  std::string packed(deflateBound(&stream, plain.size()) + 64, '\0');
  std::string input(plain);
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) throw std::runtime_error("deflate failed");
  packed.resize(packed.size() - stream.avail_out);
  deflateEnd(&stream);
  return packed;
}

/// One gzip member.
inline std::string gzip(std::string_view plain) { return deflated(plain, 15 + 16); }

}  // namespace adbo::io::test
