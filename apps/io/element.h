#pragma once
// Numbers as they stand in binary arrays (IDX, NPY).

#include <cstddef>
#include <cstdint>
#include <string>

namespace adbo::io::detail {

enum class ElementKind { kUnsigned, kSigned, kFloat };

struct ElementType {
  ElementKind kind = ElementKind::kFloat;
  std::size_t bytes = 0;  // 1, 2, 4 or 8; floats 2, 4 or 8
  bool big_endian = false;
  bool is_truth = false;  // true or false in a byte
};

/// Converts `count` elements; `bytes` need not be aligned.
void decode(ElementType type, const char* bytes, std::size_t count, float* out);
void decode(ElementType type, const char* bytes, std::size_t count, double* out);

/// One element of kind kSigned or kUnsigned in decimal digits, exactly: a double tells no integers above 2^53
/// apart.
std::string integer_text(ElementType type, const char* bytes);

/// The product of the sizes times `bytes_each`, or SIZE_MAX when it does not fit: never what a real file
/// holds.
std::size_t byte_product(const std::size_t* sizes, std::size_t count, std::size_t bytes_each);

/// A product of sizes for a message: "2^64 or more" when it does not fit.
std::string product_text(std::size_t product);

}  // namespace adbo::io::detail
