#include "io/zip.h"

#include <zlib.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "io/byte_source.h"
#include "io/error.h"
#include "io/text.h"

namespace adbo::io::detail {
namespace {

// Sizes, places and marks of the records that are read (PKWARE's APPNOTE 4.3). Numbers are little-endian.
constexpr std::string_view kLocalMark = "PK\x03\x04", kDirectoryMark = "PK\x01\x02", kEndMark = "PK\x05\x06",
                           kLargeEndMark = "PK\x06\x06", kLargeEndPlaceMark = "PK\x06\x07";
constexpr std::size_t kLocalBytes = 30, kDirectoryBytes = 46, kEndBytes = 22, kLongestComment = 0xffff,
                      kLargeEndBytes = 56, kLargeEndPlaceBytes = 20;
constexpr std::uint32_t kStored = 0, kDeflated = 8;
constexpr std::size_t kElsewhere = 0xffffffff;  // the number stands in a zip64 record
constexpr std::size_t kLargeField = 1;          // the kind of an entry's extra field that holds such numbers

std::size_t number_at(std::string_view bytes, std::size_t at, std::size_t count) {
  std::size_t value = 0;
  for (std::size_t b = 0; b < count; ++b) {
    value |= static_cast<std::size_t>(static_cast<unsigned char>(bytes[at + b])) << (8 * b);
  }
  return value;
}

/// Where the record begins that ends the archive; its comment reaches to the last byte.
std::size_t end_record(std::string_view archive, const std::string& source) {
  const std::size_t last = archive.size() < kEndBytes ? 0 : archive.size() - kEndBytes;
  const std::size_t first = last > kLongestComment ? last - kLongestComment : 0;
  for (std::size_t at = last + 1; at-- > first && archive.size() >= kEndBytes;) {
    const std::string_view record = archive.substr(at);
    if (record.starts_with(kEndMark) && number_at(record, 20, 2) == record.size() - kEndBytes) return at;
  }
  throw InputError(source, "truncated or damaged zip archive: its directory is not found at its end");
}

struct Directory {
  std::size_t count = 0, bytes = 0, at = 0;
  bool in_parts = false;
};

/// Of an archive with numbers too large for the record at its end: a second one, whose place stands before
/// it.
Directory large_directory(std::string_view archive, std::size_t end_at, const std::string& source) {
  const auto refuse = [&source] {
    throw InputError(source, "damaged zip archive: its zip64 record is not found");
  };
  if (end_at < kLargeEndPlaceBytes) refuse();
  const std::string_view place = archive.substr(end_at - kLargeEndPlaceBytes, kLargeEndPlaceBytes);
  if (!place.starts_with(kLargeEndPlaceMark)) refuse();
  const std::size_t at = number_at(place, 8, 8);
  if (at > archive.size() || archive.size() - at < kLargeEndBytes) refuse();
  const std::string_view record = archive.substr(at);
  if (!record.starts_with(kLargeEndMark)) refuse();
  return {.count = number_at(record, 32, 8),
          .bytes = number_at(record, 40, 8),
          .at = number_at(record, 48, 8),
          .in_parts = number_at(record, 16, 4) != 0 || number_at(record, 24, 8) != number_at(record, 32, 8)};
}

Directory find_directory(std::string_view archive, const std::string& source) {
  const std::size_t end_at = end_record(archive, source);
  const std::string_view end = archive.substr(end_at);
  const Directory directory{
      .count = number_at(end, 10, 2),
      .bytes = number_at(end, 12, 4),
      .at = number_at(end, 16, 4),
      .in_parts = number_at(end, 4, 4) != 0 || number_at(end, 8, 2) != number_at(end, 10, 2)};
  const bool is_large =
      directory.count == 0xffff || directory.bytes == kElsewhere || directory.at == kElsewhere;
  return is_large ? large_directory(archive, end_at, source) : directory;
}

/// The numbers that an entry has no room for, in their order, from its extra fields.
void read_large_numbers(std::string_view fields, ZipMember& member, const std::string& source) {
  while (fields.size() >= 4) {
    const std::size_t kind = number_at(fields, 0, 2);
    std::string_view field = fields.substr(4, number_at(fields, 2, 2));
    fields.remove_prefix(4 + field.size());
    if (kind != kLargeField) continue;
    for (std::size_t* const number : {&member.unpacked_bytes, &member.packed_bytes, &member.header_at}) {
      if (*number != kElsewhere || field.size() < 8) continue;
      *number = number_at(field, 0, 8);
      field.remove_prefix(8);
    }
    return;
  }
  if (member.unpacked_bytes == kElsewhere || member.packed_bytes == kElsewhere ||
      member.header_at == kElsewhere)
    throw InputError(source,
                     fmt::format("damaged zip archive: the sizes of {} are missing", in_quotes(member.name)));
}

ZipMember parse_entry(std::string_view entry) {
  ZipMember member;
  member.encrypted = (number_at(entry, 8, 2) & 1U) != 0;
  member.method = static_cast<std::uint32_t>(number_at(entry, 10, 2));
  member.checksum = static_cast<std::uint32_t>(number_at(entry, 16, 4));
  member.packed_bytes = number_at(entry, 20, 4);
  member.unpacked_bytes = number_at(entry, 24, 4);
  member.header_at = number_at(entry, 42, 4);
  return member;
}

/// Removes the entry at the front of the directory.
ZipMember take_entry(std::string_view& directory, const std::string& source) {
  if (directory.size() < kDirectoryBytes || !directory.starts_with(kDirectoryMark))
    throw InputError(source, "damaged zip archive: a directory entry is malformed");
  const std::size_t name_bytes = number_at(directory, 28, 2);
  const std::size_t behind_name = number_at(directory, 30, 2) + number_at(directory, 32, 2);
  if (directory.size() - kDirectoryBytes < name_bytes + behind_name)
    throw InputError(source, "damaged zip archive: a directory entry is cut off");
  ZipMember member = parse_entry(directory);
  member.name = directory.substr(kDirectoryBytes, name_bytes);
  read_large_numbers(directory.substr(kDirectoryBytes + name_bytes, number_at(directory, 30, 2)), member,
                     source);
  directory.remove_prefix(kDirectoryBytes + name_bytes + behind_name);
  return member;
}

/// The packed bytes; the local header says where they begin and is believed in nothing else.
std::string_view packed_bytes(std::string_view archive, const ZipMember& member, const std::string& source) {
  const auto refuse = [&](const char* what) {
    throw InputError(source, fmt::format("damaged zip archive: {} {}", in_quotes(member.name), what));
  };
  if (member.header_at > archive.size() || archive.size() - member.header_at < kLocalBytes)
    refuse("begins beyond the end of the file");
  std::string_view rest = archive.substr(member.header_at);
  if (!rest.starts_with(kLocalMark)) refuse("does not begin where the directory says");
  const std::size_t before = kLocalBytes + number_at(rest, 26, 2) + number_at(rest, 28, 2);
  if (rest.size() < before || rest.size() - before < member.packed_bytes)
    refuse("reaches beyond the end of the file");
  return rest.substr(before, member.packed_bytes);
}

std::uint32_t checksum_of(std::string_view bytes) {
  return static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace

bool looks_like_zip(std::string_view bytes) {
  return bytes.starts_with(kLocalMark) || bytes.starts_with(kEndMark);
}

std::vector<ZipMember> list_zip(std::string_view archive, const std::string& source) {
  const Directory found = find_directory(archive, source);
  if (found.in_parts) throw InputError(source, "is one part of a zip archive in several parts");
  if (found.at > archive.size() || archive.size() - found.at < found.bytes)
    throw InputError(source, "damaged zip archive: its directory lies beyond the end of the file");
  std::string_view directory = archive.substr(found.at, found.bytes);
  std::vector<ZipMember> members;
  for (std::size_t k = 0; k < found.count; ++k) members.push_back(take_entry(directory, source));
  return members;
}

std::string unpack_member(std::string_view archive, const ZipMember& member, const std::string& source,
                          std::uint64_t max_unpacked_bytes) {
  if (member.encrypted) throw InputError(source, "is encrypted");
  if (member.method != kStored && member.method != kDeflated) {
    throw InputError(source, fmt::format("is packed by zip's method {}; expected 0 (stored) or 8 (deflated)",
                                         member.method));
  }
  const std::string_view packed = packed_bytes(archive, member, source);
  // One byte more than the directory says tells that the directory is wrong.
  const std::uint64_t most = std::min<std::uint64_t>(max_unpacked_bytes, member.unpacked_bytes);
  std::string bytes = member.method == kStored ? std::string(packed) : inflate_raw(packed, source, most);
  if (bytes.size() != member.unpacked_bytes) {
    throw InputError(source, fmt::format("damaged zip archive: {} unpacks to {} bytes, its directory says {}",
                                         in_quotes(member.name), bytes.size(), member.unpacked_bytes));
  }
  if (checksum_of(bytes) != member.checksum)
    throw InputError(source,
                     fmt::format("damaged zip archive: {} fails its checksum", in_quotes(member.name)));
  return bytes;
}

}  // namespace adbo::io::detail
