#pragma once
// Zip archives and NPY arrays for the tests, byte by byte.

#include <zlib.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/deflate.h"

namespace adbo::io::test {

inline std::string little_endian(std::size_t value, int bytes) {
  std::string text;
  for (int b = 0; b < bytes; ++b, value >>= 8) text += static_cast<char>(value & 0xff);
  return text;
}

struct ZipEntry {
  std::string name, plain;
  int method = 0;  // 0 stored, 8 deflated
  int flags = 0;
  std::size_t claimed_bytes = 0;   // 0: the truth
  std::size_t checksum_error = 0;  // added to the checksum
  bool large = false;              // the directory has its numbers in a zip64 field
};

/// As NumPy writes it: zip64 sizes in the local headers, which a reader of the directory does not need.
inline std::string zip(const std::vector<ZipEntry>& entries, const std::string& comment = "",
                       bool large_end = false) {
  std::string archive, directory;
  for (const ZipEntry& entry : entries) {
    const std::string packed = entry.method == 8 ? deflated(entry.plain, -15) : entry.plain;
    const std::size_t checksum =
        crc32(0, reinterpret_cast<const Bytef*>(entry.plain.data()), static_cast<uInt>(entry.plain.size())) +
        entry.checksum_error;
    const std::string common = little_endian(static_cast<std::size_t>(entry.flags), 2) +
                               little_endian(static_cast<std::size_t>(entry.method), 2) +
                               little_endian(0, 4) + little_endian(checksum, 4);
    const std::string zip64 = little_endian(1, 2) + little_endian(16, 2) +
                              little_endian(entry.plain.size(), 8) + little_endian(packed.size(), 8);
    const std::size_t plain_bytes = entry.claimed_bytes > 0 ? entry.claimed_bytes : entry.plain.size();
    const auto number = [&entry](std::size_t value) {
      return little_endian(entry.large ? 0xffffffff : value, 4);
    };
    const std::string large =
        entry.large ? little_endian(0x7075, 2) + little_endian(1, 2) + "u" +  // another field
                          little_endian(1, 2) + little_endian(24, 2) + little_endian(plain_bytes, 8) +
                          little_endian(packed.size(), 8) + little_endian(archive.size(), 8)
                    : "";
    directory += "PK\x01\x02" + little_endian(45, 2) + little_endian(45, 2) + common + number(packed.size()) +
                 number(plain_bytes) + little_endian(entry.name.size(), 2) + little_endian(large.size(), 2) +
                 little_endian(0, 10) + number(archive.size()) + entry.name + large;
    archive += "PK\x03\x04" + little_endian(45, 2) + common + little_endian(0xffffffff, 4) +
               little_endian(0xffffffff, 4) + little_endian(entry.name.size(), 2) +
               little_endian(zip64.size(), 2) + entry.name + zip64 + packed;
  }
  std::string end;
  if (large_end) {
    end = "PK\x06\x06" + little_endian(44, 8) + little_endian(45, 2) + little_endian(45, 2) +
          little_endian(0, 8) + little_endian(entries.size(), 8) + little_endian(entries.size(), 8) +
          little_endian(directory.size(), 8) + little_endian(archive.size(), 8) + "PK\x06\x07" +
          little_endian(0, 4) + little_endian(archive.size() + directory.size(), 8) + little_endian(1, 4);
  }
  const std::size_t count = large_end ? 0xffff : entries.size();
  return archive + directory + end + "PK\x05\x06" + little_endian(0, 4) + little_endian(count, 2) +
         little_endian(count, 2) + little_endian(large_end ? 0xffffffff : directory.size(), 4) +
         little_endian(large_end ? 0xffffffff : archive.size(), 4) + little_endian(comment.size(), 2) +
         comment;
}

/// An NPY file of version 1 with rows one after the other.
inline std::string npy(const std::string& descr, const std::string& shape, const std::string& data) {
  const std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
  return std::string("\x93NUMPY\x01\x00", 8) + little_endian(header.size(), 2) + header + data;
}
/// The same of unsigned bytes.
inline std::string npy_bytes(const std::string& shape, const std::string& data) {
  return npy("|u1", shape, data);
}

}  // namespace adbo::io::test
