#include "io/npy.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>

#include "io/array_view.h"
#include "io/atomic_file.h"
#include "io/byte_source.h"
#include "io/digest.h"
#include "io/error.h"
#include "io/text.h"

namespace adbo::io {
namespace detail {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kVersionBytes = 2;
constexpr std::size_t kMostDimensions = 64;  // what NumPy allows

std::size_t little_endian_at(std::string_view bytes, std::size_t at, std::size_t count) {
  std::size_t value = 0;
  for (std::size_t b = 0; b < count; ++b) {
    value |= static_cast<std::size_t>(static_cast<unsigned char>(bytes[at + b])) << (8 * b);
  }
  return value;
}

/// Reads the header, a Python dictionary: {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }.
class HeaderParser {
 public:
  HeaderParser(std::string_view header, const std::string& source) : rest_(header), source_(source) {}

  ArrayView run() {
    expect('{');
    while (!accept('}')) {
      parse_entry();
      if (accept(',')) continue;
      expect('}');
      break;
    }
    if (!descr_ || !fortran_order_ || !shape_) fail("expected the keys 'descr', 'fortran_order' and 'shape'");
    if (!rest_.substr(blanks()).empty()) fail("unexpected text after it");
    return {*shape_, element(*descr_), {}, *fortran_order_ && shape_->size() > 1};
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(source_, fmt::format("malformed NPY header: {} at {}", what, in_quotes(rest_)));
  }

  [[nodiscard]] std::size_t blanks() const {
    const std::size_t count = rest_.find_first_not_of(" \t\n");
    return count == rest_.npos ? rest_.size() : count;
  }

  bool accept(char wanted) {
    rest_.remove_prefix(blanks());
    if (!rest_.starts_with(wanted)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char wanted) {
    if (!accept(wanted)) fail(fmt::format("expected '{}'", wanted));
  }

  std::string_view parse_string() {
    const char quote = accept('"') ? '"' : '\'';
    if (quote == '\'') expect('\'');
    const std::size_t end = rest_.find(quote);
    if (end == rest_.npos) fail("expected a closing quote");
    const std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return text;
  }

  void parse_entry() {
    const std::string_view key = parse_string();
    expect(':');
    rest_.remove_prefix(blanks());
    if (key == "descr" && !descr_) {
      if (rest_.starts_with('['))
        throw InputError(source_, "a structured array; expected an array of plain numbers");
      descr_ = parse_string();
    } else if (key == "fortran_order" && !fortran_order_) {
      fortran_order_ = parse_bool();
    } else if (key == "shape" && !shape_) {
      shape_ = parse_shape();
    } else {
      fail(fmt::format("unexpected key {} before the text", in_quotes(key)));
    }
  }

  bool parse_bool() {
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return value;
    }
    fail("expected True or False");
  }

  std::vector<std::size_t> parse_shape() {
    std::vector<std::size_t> shape;
    expect('(');
    while (!accept(')')) {
      std::size_t size = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
      if (error != std::errc{}) fail("expected a size");
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      shape.push_back(size);
      if (shape.size() > kMostDimensions) fail(fmt::format("more than {} dimensions", kMostDimensions));
      if (accept(',')) continue;
      expect(')');
      break;
    }
    return shape;
  }

  [[nodiscard]] ElementType element(std::string_view descr) const {
    if (descr.find('O') != descr.npos)
      throw InputError(source_, "an array of Python objects; expected numbers");
    const auto unsupported = [&] {
      return InputError(
          source_, fmt::format("expected elements f2, f4, f8, b1, or i or u of 1, 2, 4 or 8 bytes, found {}",
                               in_quotes(descr)));
    };
    if (descr.size() != 3) throw unsupported();
    ElementType type;
    type.bytes = static_cast<std::size_t>(descr[2] - '0');
    const bool integer_size = type.bytes == 1 || type.bytes == 2 || type.bytes == 4 || type.bytes == 8;
    switch (descr[1]) {
      case 'f':
        type.kind = ElementKind::kFloat;
        if (type.bytes == 1) throw unsupported();
        break;
      case 'i':
        type.kind = ElementKind::kSigned;
        break;
      case 'u':
        type.kind = ElementKind::kUnsigned;
        break;
      case 'b':
        type.kind = ElementKind::kUnsigned;
        type.is_truth = true;
        if (type.bytes != 1) throw unsupported();
        break;
      default:
        throw unsupported();
    }
    if (!integer_size) throw unsupported();
    switch (descr[0]) {
      case '<':
        break;
      case '>':
        type.big_endian = true;
        break;
      case '=':
        type.big_endian = std::endian::native == std::endian::big;
        break;
      case '|':
        if (type.bytes != 1) throw unsupported();
        break;
      default:
        throw unsupported();
    }
    return type;
  }

  std::string_view rest_;
  const std::string& source_;
  std::optional<std::string_view> descr_;
  std::optional<bool> fortran_order_;
  std::optional<std::vector<std::size_t>> shape_;
};

/// What NumPy takes for true may be any other byte; as a class or a feature it would be a number of its own.
void refuse_other_than_truth(std::string_view bytes, const std::string& source) {
  const auto* const bad =
      std::find_if(bytes.begin(), bytes.end(), [](char byte) { return byte != 0 && byte != 1; });
  if (bad == bytes.end()) return;
  throw InputError(
      source, fmt::format("element {} (counted from 1) of an array of type bool: expected 0 or 1, found {}",
                          bad - bytes.begin() + 1, static_cast<unsigned char>(*bad)));
}

}  // namespace

bool looks_like_npy(std::string_view bytes) {
  const bool is_cut_short = !bytes.empty() && kMagic.starts_with(bytes);
  return bytes.starts_with(kMagic) || is_cut_short;
}

ArrayView view_npy(std::string_view bytes, const std::string& source) {
  if (!looks_like_npy(bytes))
    throw InputError(source, "not NPY: expected the magic bytes 93 'NUMPY' at its front");
  const std::size_t version_at = kMagic.size();
  const std::size_t length_at = version_at + kVersionBytes;
  const unsigned version = bytes.size() > version_at ? static_cast<unsigned char>(bytes[version_at]) : 1U;
  if (version < 1 || version > 3) {
    throw InputError(source, fmt::format("NPY version {}; expected version 1, 2 or 3", version));
  }
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  const std::size_t header_at = length_at + length_bytes;
  if (bytes.size() < header_at) {
    throw InputError(source,
                     fmt::format("truncated: expected at least the {} bytes before the NPY header, found {}",
                                 header_at, bytes.size()));
  }
  const std::size_t header_bytes = little_endian_at(bytes, length_at, length_bytes);
  if (bytes.size() - header_at < header_bytes) {
    throw InputError(source, fmt::format("truncated: expected {} bytes of NPY header, found {}", header_bytes,
                                         bytes.size() - header_at));
  }
  ArrayView array = HeaderParser(bytes.substr(header_at, header_bytes), source).run();
  array.data = bytes.substr(header_at + header_bytes);
  const std::size_t expected = byte_product(array.shape.data(), array.rank(), array.type.bytes);
  if (expected != array.data.size()) {
    throw InputError(
        source,
        fmt::format("{}: an array of shape ({}) with {} bytes an element needs {} bytes after the "
                    "header, found {}",
                    expected > array.data.size() ? "truncated" : "too long", fmt::join(array.shape, ", "),
                    array.type.bytes, product_text(expected), array.data.size()));
  }
  if (array.type.is_truth) refuse_other_than_truth(array.data, source);
  return array;
}

}  // namespace detail

void write_npy(const std::string& path, std::span<const double> values, std::span<const std::size_t> shape) {
  constexpr std::size_t kAlignmentBytes = 64;  // NumPy aligns the data so, for memory mapping
  constexpr std::size_t kPrologueBytes = 10;   // magic, version, header length
  const std::size_t expected = detail::byte_product(shape.data(), shape.size(), sizeof(double));
  if (expected != values.size_bytes())
    throw std::invalid_argument("write_npy: the shape does not fit the values");

  std::string header = fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}{}), }}",
                                   fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  const std::size_t unpadded = kPrologueBytes + header.size() + 1;
  header.append((kAlignmentBytes - unpadded % kAlignmentBytes) % kAlignmentBytes, ' ');
  header += '\n';
  if (header.size() > 0xffff)
    throw std::invalid_argument("write_npy: more dimensions than an NPY 1.0 header holds");

  std::string prologue(detail::kMagic);
  prologue +=
      {'\x01', '\x00', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  AtomicFile file(path);
  file.write(prologue + header);
  static_assert(std::endian::native == std::endian::little, "the values are written as they stand in memory");
  file.write({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  file.commit();
}

NpyArray read_npy(const std::string& path) { return parse_npy(read_bytes(path), path); }

NpyArray parse_npy(std::string_view bytes, const std::string& source) {
  detail::ArrayView array = detail::view_npy(bytes, source);
  NpyArray result;
  result.values.resize(array.data.size() / array.type.bytes);
  if (!result.values.empty()) {
    const std::size_t rows = array.rank() == 0 ? 1 : array.shape[0];
    const std::size_t columns = result.values.size() / rows;
    detail::decode_rows(array, [&](std::size_t r) { return result.values.data() + r * columns; });
  }
  result.shape = std::move(array.shape);
  return result;
}

Table parse_npy_table(std::string_view bytes, const std::string& source) {
  Table table;
  table.format = "npy";
  table.source = source;
  detail::set_features(table, detail::view_npy(bytes, source));
  table.digest = Digest().update(bytes).text();
  return table;
}

}  // namespace adbo::io
