#include "io/idx.h"

#include <fmt/format.h>

#include "io/array_view.h"
#include "io/byte_source.h"
#include "io/digest.h"
#include "io/error.h"

namespace adbo::io {
namespace detail {
namespace {

constexpr std::size_t kMagicBytes = 4;
constexpr std::size_t kSizeBytes = 4;

/// bytes == 0 for a code that IDX does not have.
ElementType idx_element(unsigned char code) {
  switch (code) {
    case 0x08:
      return {ElementKind::kUnsigned, 1, true};
    case 0x09:
      return {ElementKind::kSigned, 1, true};
    case 0x0B:
      return {ElementKind::kSigned, 2, true};
    case 0x0C:
      return {ElementKind::kSigned, 4, true};
    case 0x0D:
      return {ElementKind::kFloat, 4, true};
    case 0x0E:
      return {ElementKind::kFloat, 8, true};
    default:
      return {ElementKind::kUnsigned, 0, true};
  }
}

unsigned char byte_at(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}

std::size_t size_at(std::string_view bytes, std::size_t at) {
  std::size_t size = 0;
  for (std::size_t b = 0; b < kSizeBytes; ++b) size = size << 8 | byte_at(bytes, at + b);
  return size;
}

std::string shape_text(const std::vector<std::size_t>& shape) {
  return fmt::format("{}", fmt::join(shape, " x "));
}

}  // namespace

bool looks_like_idx(std::string_view bytes) {
  return bytes.size() >= kMagicBytes && bytes[0] == 0 && bytes[1] == 0 &&
         idx_element(byte_at(bytes, 2)).bytes > 0 && bytes[3] != 0;
}

ArrayView view_idx(std::string_view bytes, const std::string& source) {
  if (bytes.size() < kMagicBytes) {
    throw InputError(source,
                     fmt::format("truncated: expected at least the {} bytes of IDX's magic number, found {}",
                                 kMagicBytes, bytes.size()));
  }
  if (!looks_like_idx(bytes)) {
    throw InputError(source,
                     fmt::format("not IDX: expected a magic number 00 00 <08, 09, 0B, 0C, 0D or 0E> <rank>, "
                                 "found {:02X} {:02X} {:02X} {:02X}",
                                 byte_at(bytes, 0), byte_at(bytes, 1), byte_at(bytes, 2), byte_at(bytes, 3)));
  }
  ArrayView array;
  array.type = idx_element(byte_at(bytes, 2));
  const std::size_t rank = byte_at(bytes, 3);
  const std::size_t header_bytes = kMagicBytes + kSizeBytes * rank;
  if (bytes.size() < header_bytes) {
    throw InputError(source,
                     fmt::format("truncated: expected the {} bytes of an IDX header of rank {}, found {}",
                                 header_bytes, rank, bytes.size()));
  }
  for (std::size_t k = 0; k < rank; ++k) array.shape.push_back(size_at(bytes, kMagicBytes + kSizeBytes * k));
  array.data = bytes.substr(header_bytes);
  const std::size_t expected = byte_product(array.shape.data(), rank, array.type.bytes);
  if (expected != array.data.size()) {
    throw InputError(
        source, fmt::format("{}: {} elements of {} bytes need {} bytes after the header, found {}",
                            expected > array.data.size() ? "truncated" : "too long", shape_text(array.shape),
                            array.type.bytes, product_text(expected), array.data.size()));
  }
  return array;
}

}  // namespace detail

Table read_idx(const std::string& images_path, const std::string& labels_path) {
  const std::string images = read_bytes(images_path);
  if (labels_path.empty()) return parse_idx(images, images_path);
  return parse_idx(images, images_path, read_bytes(labels_path), labels_path);
}

Table parse_idx(std::string_view images, const std::string& images_source, std::string_view labels,
                const std::string& labels_source) {
  Table table;
  table.format = "idx";
  table.source = images_source;
  const detail::ArrayView image_array = detail::view_idx(images, images_source);
  if (labels_source.empty()) {
    detail::set_features(table, image_array);
    table.digest = Digest().update(images).text();
    return table;
  }
  const detail::ArrayView label_array = detail::view_idx(labels, labels_source);
  detail::set_features(table, image_array);
  detail::set_labels(table, label_array, labels_source);
  table.digest = Digest().update(images).update(labels).text();
  return table;
}

}  // namespace adbo::io
