#include "io/element.h"

#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace adbo::io::detail {
namespace {

template <std::size_t kBytes>
struct UnsignedOf;
template <>
struct UnsignedOf<1> {
  using Type = std::uint8_t;
};
template <>
struct UnsignedOf<2> {
  using Type = std::uint16_t;
};
template <>
struct UnsignedOf<4> {
  using Type = std::uint32_t;
};
template <>
struct UnsignedOf<8> {
  using Type = std::uint64_t;
};

/// One element, assembled byte by byte so that neither the alignment nor the byte order of the machine
/// matters (compilers turn this into a load and, where needed, a byte swap).
template <typename Element, bool kBigEndian>
Element load(const char* bytes) {
  using Bits = typename UnsignedOf<sizeof(Element)>::Type;
  std::uint64_t bits = 0;
  for (std::size_t b = 0; b < sizeof(Element); ++b) {
    const std::size_t place = kBigEndian ? sizeof(Element) - 1 - b : b;
    bits |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[b])) << (8 * place);
  }
  return std::bit_cast<Element>(static_cast<Bits>(bits));
}

/// IEEE 754 binary16, for which C++20 has no type.
struct Half {
  std::uint16_t bits;

  template <typename Real>
  explicit operator Real() const {
    constexpr int kMantissaBits = 10, kExponentBias = 15;
    const int exponent = bits >> kMantissaBits & 0x1f;
    const int mantissa = bits & 0x3ff;
    Real value = 0;
    if (exponent == 0x1f) {
      value = mantissa == 0 ? std::numeric_limits<Real>::infinity() : std::numeric_limits<Real>::quiet_NaN();
    } else if (exponent == 0) {  // zero and subnormal numbers: no leading one
      value = std::ldexp(static_cast<Real>(mantissa), 1 - kExponentBias - kMantissaBits);
    } else {
      value = std::ldexp(static_cast<Real>(mantissa + 0x400), exponent - kExponentBias - kMantissaBits);
    }
    return (bits & 0x8000) != 0 ? -value : value;
  }
};

template <typename Element, typename Out>
void decode_as(bool big_endian, const char* bytes, std::size_t count, Out* out) {
  if (big_endian) {
    for (std::size_t k = 0; k < count; ++k)
      out[k] = static_cast<Out>(load<Element, true>(bytes + k * sizeof(Element)));
  } else {
    for (std::size_t k = 0; k < count; ++k)
      out[k] = static_cast<Out>(load<Element, false>(bytes + k * sizeof(Element)));
  }
}

template <typename Out>
void decode_integers(ElementType type, const char* bytes, std::size_t count, Out* out) {
  const bool big = type.big_endian;
  if (type.kind == ElementKind::kSigned) {
    if (type.bytes == 1) return decode_as<std::int8_t>(big, bytes, count, out);
    if (type.bytes == 2) return decode_as<std::int16_t>(big, bytes, count, out);
    if (type.bytes == 4) return decode_as<std::int32_t>(big, bytes, count, out);
    if (type.bytes == 8) return decode_as<std::int64_t>(big, bytes, count, out);
  } else {
    if (type.bytes == 1) return decode_as<std::uint8_t>(big, bytes, count, out);
    if (type.bytes == 2) return decode_as<std::uint16_t>(big, bytes, count, out);
    if (type.bytes == 4) return decode_as<std::uint32_t>(big, bytes, count, out);
    if (type.bytes == 8) return decode_as<std::uint64_t>(big, bytes, count, out);
  }
  throw std::logic_error("decode: no such type of integers");
}

template <typename Out>
void decode_any(ElementType type, const char* bytes, std::size_t count, Out* out) {
  if (type.kind != ElementKind::kFloat) return decode_integers(type, bytes, count, out);
  const bool big = type.big_endian;
  if (type.bytes == 2) return decode_as<Half>(big, bytes, count, out);
  if (type.bytes == 4) return decode_as<float>(big, bytes, count, out);
  if (type.bytes == 8) return decode_as<double>(big, bytes, count, out);
  throw std::logic_error("decode: no such type of floating-point numbers");
}

template <typename Integer>
std::string digits_of(ElementType type, const char* bytes) {
  Integer value = 0;
  decode_integers(type, bytes, 1, &value);
  return std::to_string(value);
}

}  // namespace

void decode(ElementType type, const char* bytes, std::size_t count, float* out) {
  decode_any(type, bytes, count, out);
}

void decode(ElementType type, const char* bytes, std::size_t count, double* out) {
  decode_any(type, bytes, count, out);
}

std::string integer_text(ElementType type, const char* bytes) {
  return type.kind == ElementKind::kSigned ? digits_of<std::int64_t>(type, bytes)
                                           : digits_of<std::uint64_t>(type, bytes);
}

std::size_t byte_product(const std::size_t* sizes, std::size_t count, std::size_t bytes_each) {
  constexpr std::size_t kMax = std::numeric_limits<std::size_t>::max();
  for (std::size_t k = 0; k < count; ++k) {
    if (sizes[k] == 0) return 0;
  }
  std::size_t product = bytes_each;
  for (std::size_t k = 0; k < count; ++k) {
    if (product > kMax / sizes[k]) return kMax;
    product *= sizes[k];
  }
  return product;
}

std::string product_text(std::size_t product) {
  const bool fits = product < std::numeric_limits<std::size_t>::max();
  return fits ? std::to_string(product) : std::string("2^64 or more");
}

}  // namespace adbo::io::detail
