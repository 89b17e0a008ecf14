#pragma once
// Zip archives, as far as NPZ files need them: members stored or deflated, zip64 where they are large.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace adbo::io::detail {

struct ZipMember {
  std::string name;
  std::uint32_t method = 0, checksum = 0;
  std::size_t packed_bytes = 0, unpacked_bytes = 0, header_at = 0;
  bool encrypted = false;
};

[[nodiscard]] bool looks_like_zip(std::string_view bytes);

/// The members that the archive's directory lists. InputError when there is no such directory, it does not
/// fit the file, or it is one of an archive in parts.
[[nodiscard]] std::vector<ZipMember> list_zip(std::string_view archive, const std::string& source);

/// The member's bytes. Memory grows with what is really unpacked. InputError when it is encrypted, packed in
/// another way, reaches beyond the archive, has another size or checksum than the directory says, or unpacks
/// to more than unpack_limit() allows.
[[nodiscard]] std::string unpack_member(std::string_view archive, const ZipMember& member,
                                        const std::string& source, std::uint64_t max_unpacked_bytes);

}  // namespace adbo::io::detail
