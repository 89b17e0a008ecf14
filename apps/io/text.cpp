#include "io/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <system_error>

#include <fmt/format.h>

#include "io/error.h"

namespace adbo::io::detail {
namespace {

constexpr std::size_t kLongestQuotedBytes = 40;

/// Decimal exponent of the first significant digit of a number in from_chars syntax without its sign; its
/// sign tells an overflow from an underflow, which from_chars does not.
std::int64_t decimal_magnitude(const char* first, const char* last) {
  constexpr std::int64_t kFarExponent = 1'000'000'000'000;
  const char* exponent_mark = std::find_if(first, last, [](char c) { return c == 'e' || c == 'E'; });
  const char* point = std::find(first, exponent_mark, '.');
  const char* digit = std::find_if(first, exponent_mark, [](char c) { return c >= '1' && c <= '9'; });
  const std::int64_t magnitude = digit < point ? point - digit - 1 : point - digit;
  if (exponent_mark == last) return magnitude;
  const char* exponent_begin = exponent_mark + 1;
  const bool negative = exponent_begin != last && *exponent_begin == '-';
  if (exponent_begin != last && (negative || *exponent_begin == '+')) ++exponent_begin;
  std::int64_t exponent = 0;
  // Beyond that the number's digits, of which a file has fewer, change nothing, and sums stay in range.
  const bool is_far =
      std::from_chars(exponent_begin, last, exponent).ec != std::errc{} || exponent > kFarExponent;
  if (is_far) exponent = kFarExponent;
  return magnitude + (negative ? -exponent : exponent);
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string_view without_byte_order_mark(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return text;
}

std::size_t utf8_size(std::string_view text, std::size_t k, std::uint32_t& code) {
  const auto byte_at = [text](std::size_t at) -> std::uint32_t {
    return static_cast<unsigned char>(text[at]);
  };
  const std::uint32_t lead = byte_at(k);
  code = lead;
  if (lead < 0x80) return 1;
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || k + size > text.size()) return 0;
  code = lead & (0x7FU >> size);
  for (std::size_t j = 1; j < size; ++j) {
    if ((byte_at(k + j) & 0xC0U) != 0x80U) return 0;
    code = code << 6 | (byte_at(k + j) & 0x3FU);
  }
  constexpr std::uint32_t kLowest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
  return code >= kLowest[size] && code <= 0x10FFFF && !is_surrogate ? size : 0;
}

std::string as_utf8(std::string_view text) {
  std::string result;
  for (std::size_t k = 0; k < text.size();) {
    std::uint32_t code = 0;
    const std::size_t size = utf8_size(text, k, code);
    if (size == 0) {
      result += fmt::format("\\x{:02X}", static_cast<unsigned char>(text[k]));
    } else {
      result += text.substr(k, size);
    }
    k += std::max<std::size_t>(size, 1);
  }
  return result;
}

bool turns_text(std::uint32_t code) {
  return code == 0x061C || code == 0x200E || code == 0x200F || (code >= 0x202A && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

namespace {

/// The character at k, or its bytes as \xNN; k moves past it.
void append_printable(std::string& result, std::string_view text, std::size_t& k) {
  std::uint32_t code = 0;
  const std::size_t size = utf8_size(text, k, code), bytes = std::max<std::size_t>(size, 1);
  const bool is_control = code < 0x20 || (code >= 0x7f && code < 0xa0);
  if (size > 0 && !is_control && !turns_text(code)) {
    result += text.substr(k, size);
  } else {
    for (const char byte : text.substr(k, bytes))
      result += fmt::format("\\x{:02X}", static_cast<unsigned char>(byte));
  }
  k += bytes;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  for (std::size_t k = 0; k < text.size();) {
    if (text[k] == '\t') {
      result += text[k++];
    } else {
      append_printable(result, text, k);
    }
  }
  return result;
}

std::string in_quotes(std::string_view token) {
  std::string result = "\"";
  std::size_t k = 0;
  while (k < std::min(token.size(), kLongestQuotedBytes)) append_printable(result, token, k);
  result += k < token.size() ? "...\"" : "\"";
  return result;
}

LineReader::LineReader(std::string_view text)
    : text_(text), line_feed_(std::min(text.find('\n'), text.size())) {}

bool LineReader::read(std::string_view& line) {
  if (at_ >= text_.size()) return false;
  // Kept from line to line: where lines end with CR alone each search would go through all that follows.
  if (line_feed_ < at_) line_feed_ = std::min(text_.find('\n', at_), text_.size());
  line = text_.substr(at_, line_feed_ - at_);
  line = line.substr(0, line.find('\r'));
  at_ += line.size();
  at_ += text_.substr(at_).starts_with("\r\n") ? 2 : 1;
  return true;
}

bool LineReader::is_at_end() const {
  return text_.find_first_not_of(" \t\r\n", std::min(at_, text_.size())) == text_.npos;
}

std::size_t Text::line_of(const char* at) const {
  std::size_t line = 1;
  for (const char* p = begin(); p < at; ++p) {
    if (*p == '\n' || (*p == '\r' && p + 1 < end() && p[1] != '\n')) ++line;
  }
  return line;
}

void Text::fail(const char* at, std::string_view token, const std::string& detail) const {
  const char* line_begin = at;
  while (line_begin > begin() && line_begin[-1] != '\n' && line_begin[-1] != '\r') --line_begin;
  const auto column = static_cast<std::size_t>(at - line_begin) + 1;
  throw InputError(source_, line_of(at), column, std::string(token), detail);
}

void Text::fail(const std::string& detail) const { throw InputError(source_, detail); }

template <typename Real>
NumberError scan_number(const char* first, const char* last, Real& value, const char*& end) {
  const char* digits = first;
  if (digits != last && *digits == '+') {
    ++digits;
    if (digits != last && *digits == '-') return NumberError::kNotANumber;
  }
  const auto [stop, error] = std::from_chars(digits, last, value);
  end = stop;
  if (error == std::errc::result_out_of_range) {
    const bool negative = *digits == '-';
    if (decimal_magnitude(negative ? digits + 1 : digits, stop) > 0) return NumberError::kTooLarge;
    value = negative ? -Real{0} : Real{0};
    return NumberError::kNone;
  }
  if (error != std::errc{}) return NumberError::kNotANumber;
  if (!std::isfinite(value)) {
    const char last_character =
        stop[-1];  // a word ("inf", "nan(...)") or an overflow that came back as infinity
    return is_digit(last_character) || last_character == '.' ? NumberError::kTooLarge
                                                             : NumberError::kNotFinite;
  }
  return NumberError::kNone;
}

template <typename Real>
NumberError parse_number(std::string_view token, Real& value) {
  const char* last = token.data() + token.size();
  const char* end = token.data();
  const NumberError error = scan_number(token.data(), last, value, end);
  if (error == NumberError::kNotANumber || end != last) return NumberError::kNotANumber;
  return error;
}

template NumberError scan_number(const char*, const char*, float&, const char*&);
template NumberError scan_number(const char*, const char*, double&, const char*&);
template NumberError parse_number(std::string_view, float&);
template NumberError parse_number(std::string_view, double&);

std::string explain(NumberError error, const std::string& where, std::string_view token) {
  switch (error) {
    case NumberError::kNotFinite:
      return fmt::format("expected a finite number {}, found {}", where, in_quotes(token));
    case NumberError::kTooLarge:
      return fmt::format("expected {} {}, found {}", kSinglePrecisionRange, where, in_quotes(token));
    default:
      return fmt::format("expected a number {}, found {}", where, in_quotes(token));
  }
}

bool means_missing(std::string_view word) {
  constexpr std::array<std::string_view, 6> kMissing = {"", "?", "na", "n/a", "nan", "null"};
  if (word.size() > 4) return false;
  std::string lower(word);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return std::find(kMissing.begin(), kMissing.end(), lower) != kMissing.end();
}

}  // namespace adbo::io::detail
