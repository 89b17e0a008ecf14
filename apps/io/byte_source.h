#pragma once
// Whole files in memory, unpacked when their content (not their name) says gzip.

#include <cstdint>
#include <string>
#include <string_view>

namespace adbo::io {

inline constexpr std::uint64_t kDefaultMaxUnpackedBytes = std::uint64_t{8} << 30;

/// Whether the bytes begin with gzip's magic number.
[[nodiscard]] bool is_gzip(std::string_view bytes);

/// Of this machine; the largest number there is where it does not tell.
[[nodiscard]] std::uint64_t physical_memory_bytes();

/// How far a packed file of this size may unpack: to `most`, to half of the memory, and beyond a gibibyte to
/// 200 times its own size (data hardly packs better; what is made to fill memory packs a thousand to one).
[[nodiscard]] std::uint64_t unpack_limit(std::uint64_t packed_bytes, std::uint64_t most,
                                         std::uint64_t memory_bytes);

/// A stream of deflated bytes without any wrapping, as it stands in zip archives. InputError as for gunzip().
[[nodiscard]] std::string inflate_raw(std::string_view packed, const std::string& source,
                                      std::uint64_t max_unpacked_bytes);

/// The bytes of a gzip file of one or more members. The result grows with what is really unpacked; no size
/// that a header claims is believed. InputError when the stream is truncated, fails its checksum, is followed
/// by other bytes, or unpacks to more than unpack_limit() allows.
[[nodiscard]] std::string gunzip(std::string_view packed, const std::string& source,
                                 std::uint64_t max_unpacked_bytes = kDefaultMaxUnpackedBytes);

/// The bytes of the file, unpacked if they are gzip. Pipes can be read too. InputError for a missing,
/// unreadable or empty file, a directory, and all that gunzip() refuses.
[[nodiscard]] std::string read_bytes(const std::string& path,
                                     std::uint64_t max_unpacked_bytes = kDefaultMaxUnpackedBytes);

}  // namespace adbo::io
