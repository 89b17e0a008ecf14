#include "report/html.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace adbo::app {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

unsigned byte_at(std::string_view text, std::size_t k) { return static_cast<unsigned char>(text[k]); }

/// Bytes of the character that begins at k, or 0 where none does that XML knows: overlong forms, surrogates,
/// U+FFFE and U+FFFF, and what lies beyond U+10FFFF.
std::size_t character_size(std::string_view text, std::size_t k) {
  const unsigned lead = byte_at(text, k);
  if (lead < 0x80) return lead >= 0x20 || lead == '\t' || lead == '\n' ? 1 : 0;
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || k + size > text.size()) return 0;
  std::uint32_t code = lead & (0x7FU >> size);
  for (std::size_t j = 1; j < size; ++j) {
    if ((byte_at(text, k + j) & 0xC0U) != 0x80U) return 0;
    code = code << 6 | (byte_at(text, k + j) & 0x3FU);
  }
  constexpr std::uint32_t kLowest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
  const bool is_character =
      code >= kLowest[size] && code <= 0x10FFFF && !is_surrogate && code != 0xFFFE && code != 0xFFFF;
  return is_character ? size : 0;
}

std::string_view entity_of(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

}  // namespace

std::string html_escaped(std::string_view text) {
  std::string escaped;
  for (std::size_t k = 0; k < text.size();) {
    const std::size_t size = character_size(text, k);
    if (size == 0) {
      escaped += kReplacement;
    } else if (const std::string_view entity = entity_of(text[k]); size == 1 && !entity.empty()) {
      escaped += entity;
    } else {
      escaped += text.substr(k, size);
    }
    k += std::max<std::size_t>(size, 1);
  }
  return escaped;
}

}  // namespace adbo::app
