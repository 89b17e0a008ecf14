#pragma once
// What the text readers share: places, quoted tokens, strict and locale-independent numbers.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace adbo::io::detail {

inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Without blanks at either end.
std::string_view trimmed(std::string_view text);

/// Without a UTF-8 byte-order mark at the front.
std::string_view without_byte_order_mark(std::string_view text);

/// Bytes of the UTF-8 character that begins at k, or 0 where none does: overlong forms, surrogates, and what
/// lies beyond U+10FFFF are none. Its code goes to `code`.
std::size_t utf8_size(std::string_view text, std::size_t k, std::uint32_t& code);

/// The text with every byte that is no UTF-8 written as \xNN: JSON can hold it, and two texts stay two.
std::string as_utf8(std::string_view text);

/// Whether a character turns the direction of the text around it and has no look of its own.
bool turns_text(std::uint32_t code);

/// The text as a terminal may show it: what is no UTF-8, has no look of its own or turns text as \xNN, byte
/// by byte. Tabs stay.
std::string printable(std::string_view text);

/// The token in double quotes for a message: printable, line ends and tabs as \xNN too; cut after 40 bytes.
std::string in_quotes(std::string_view token);

/// A text in memory that can say where in it something is wrong. Places are worked out only when something
/// is.
class Text {
 public:
  Text(std::string_view bytes, const std::string& source) : bytes_(bytes), source_(source) {}

  [[nodiscard]] const char* begin() const { return bytes_.data(); }
  [[nodiscard]] const char* end() const { return bytes_.data() + bytes_.size(); }
  [[nodiscard]] std::string_view bytes() const { return bytes_; }
  [[nodiscard]] const std::string& source() const { return source_; }

  /// Line of a byte of the text, from 1. A line ends with LF, CRLF or a lone CR.
  [[nodiscard]] std::size_t line_of(const char* at) const;
  /// Throws the InputError for the place of `at`.
  [[noreturn]] void fail(const char* at, std::string_view token, const std::string& detail) const;
  /// Throws the InputError for the text as a whole.
  [[noreturn]] void fail(const std::string& detail) const;

 private:
  std::string_view bytes_;
  const std::string& source_;
};

/// The lines of a text one after another, without their ends: LF, CR LF or a lone CR.
class LineReader {
 public:
  explicit LineReader(std::string_view text);

  /// False: there is none any more.
  bool read(std::string_view& line);
  /// Whether nothing but blanks and empty lines follows.
  [[nodiscard]] bool is_at_end() const;

 private:
  std::string_view text_;
  std::size_t at_ = 0;     ///< where the next line begins
  std::size_t line_feed_;  ///< the first LF from there on, or the text's size
};

/// What features are held in, for messages.
inline constexpr const char* kSinglePrecisionRange = "a number between -3.4e38 and 3.4e38 (single precision)";

enum class NumberError { kNone, kNotANumber, kNotFinite, kTooLarge };

/// Reads the number at the front of [first, last) whatever the locale: an optional sign, decimal digits with
/// an optional point, an optional exponent. `end` is one past the number. Numbers too small for Real become
/// zero.
template <typename Real>
NumberError scan_number(const char* first, const char* last, Real& value, const char*& end);

/// The same for a token that must be a number as a whole.
template <typename Real>
NumberError parse_number(std::string_view token, Real& value);

extern template NumberError scan_number(const char*, const char*, float&, const char*&);
extern template NumberError scan_number(const char*, const char*, double&, const char*&);
extern template NumberError parse_number(std::string_view, float&);
extern template NumberError parse_number(std::string_view, double&);

/// The sentence for a refused feature value; `where` follows "a number", for example `after "3:"`.
std::string explain(NumberError error, const std::string& where, std::string_view token);

/// Whether the word stands for a missing value ("", "?", "na", "n/a", "nan", "null", in any case).
bool means_missing(std::string_view word);

}  // namespace adbo::io::detail
