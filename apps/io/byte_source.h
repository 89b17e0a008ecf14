#pragma once
// Whole files in memory, unpacked when their content (not their name) says gzip.

#include <cstdint>
#include <string>
#include <string_view>

namespace adbo::io {

inline constexpr std::uint64_t kDefaultMaxUnpackedBytes = std::uint64_t{8} << 30;

/// Whether the bytes begin with gzip's magic number.
[[nodiscard]] bool is_gzip(std::string_view bytes);

/// The bytes of a gzip file of one or more members. The result grows with what is really unpacked; no size
/// that a header claims is believed. InputError when the stream is truncated, fails its checksum, is followed
/// by other bytes, or unpacks to more than `max_unpacked_bytes`.
[[nodiscard]] std::string gunzip(std::string_view packed, const std::string& source,
                                 std::uint64_t max_unpacked_bytes = kDefaultMaxUnpackedBytes);

/// The bytes of the file, unpacked if they are gzip. Pipes can be read too. InputError for a missing,
/// unreadable or empty file, a directory, and all that gunzip() refuses.
[[nodiscard]] std::string read_bytes(const std::string& path,
                                     std::uint64_t max_unpacked_bytes = kDefaultMaxUnpackedBytes);

}  // namespace adbo::io
