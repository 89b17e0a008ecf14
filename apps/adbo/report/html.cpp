#include "report/html.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

#include "io/text.h"

namespace adbo::app {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// Whether XML knows the character.
bool is_allowed(std::uint32_t code) {
  return (code >= 0x20 || code == '\t' || code == '\n') && code != 0xFFFE && code != 0xFFFF;
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
    std::uint32_t code = 0;
    const std::size_t size = io::detail::utf8_size(text, k, code);
    if (size == 0 || !is_allowed(code)) {
      for (std::size_t byte = 0; byte < std::max<std::size_t>(size, 1); ++byte) escaped += kReplacement;
    } else if (io::detail::turns_text(code)) {
      escaped += fmt::format("[U+{:04X}]", code);
    } else if (const std::string_view entity = entity_of(text[k]); size == 1 && !entity.empty()) {
      escaped += entity;
    } else {
      escaped += text.substr(k, size);
    }
    k += std::max<std::size_t>(size, 1);
  }
  return escaped;
}

std::string html_word(std::string_view text) {
  constexpr std::size_t kLongestBytes = 300;
  if (text.size() <= kLongestBytes) return "<bdi>" + html_escaped(text) + "</bdi>";
  std::size_t cut = kLongestBytes;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0U) == 0x80U)
    --cut;  // not within a character
  return "<bdi>" + html_escaped(text.substr(0, cut)) + "\u2026</bdi>";
}

}  // namespace adbo::app
