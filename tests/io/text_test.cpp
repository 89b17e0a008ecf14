#include "io/text.h"

#include <clocale>
#include <cmath>
#include <limits>
#include <string>

#include "io_support.h"

namespace adbo::io::detail {
namespace {

NumberError parse(std::string_view token, float& value) { return parse_number(token, value); }

TEST_CASE("numbers in every accepted spelling") {
  float value = 0;
  const auto reads = [&](std::string_view token, float expected) {
    CAPTURE(token);
    CHECK(parse(token, value) == NumberError::kNone);
    CHECK(value == expected);  // from_chars rounds correctly, so the nearest float is exact
  };
  reads("0", 0.0F);
  reads("1", 1.0F);
  reads("+1", 1.0F);
  reads("-1", -1.0F);
  reads("0.5", 0.5F);
  reads(".5", 0.5F);
  reads("5.", 5.0F);
  reads("+.5e+1", 5.0F);
  reads("-1.8e-05", -1.8e-05F);
  reads("9.86E-02", 9.86e-02F);
  reads("0007", 7.0F);
  reads("16777217", 16777216.0F);  // no float is nearer
  reads("3.4028234e38", std::numeric_limits<float>::max());
  reads("1e-40", 1e-40F);  // subnormal
}

TEST_CASE("numbers too small for single precision become zero") {
  float value = 1;
  for (const char* token :
       {"1e-60", "1e-400", "0.0000000000000000000000000000000000000000000000000000001", "0e999",
        "1e-99999999999999999999", "2224e-9223372036854775807", "0.001e-9223372036854775807"}) {
    CAPTURE(token);
    CHECK(parse(token, value) == NumberError::kNone);
    CHECK(value == 0.0F);
  }
  CHECK(parse("-1e-60", value) == NumberError::kNone);
  CHECK(value == 0.0F);
  CHECK(std::signbit(value));
}

TEST_CASE("numbers too large for single precision are told apart") {
  float value = 0;
  for (const char* token :
       {"1e39", "-1e39", "1e400", "4e38", "1000000000000000000000000000000000000000",
        "1e99999999999999999999", "2224e9223372036854775807", "0.001e9223372036854775807"}) {
    CAPTURE(token);
    CHECK(parse(token, value) == NumberError::kTooLarge);
  }
  double wide = 0;
  CHECK(parse_number("1e39", wide) == NumberError::kNone);
  CHECK(parse_number("1e400", wide) == NumberError::kTooLarge);
}

TEST_CASE("what is no number") {
  float value = 0;
  for (const char* token : {"", "+", "-", ".", "e5", "abc", "1x", "1 ", " 1", "+-1", "++1", "--1", "1e",
                            "0x10", "1,5", "1_000", "1e5.5"}) {
    CAPTURE(token);
    CHECK(parse(token, value) == NumberError::kNotANumber);
  }
  for (const char* token : {"nan", "NaN", "-nan", "inf", "-inf", "+inf", "Infinity"}) {
    CAPTURE(token);
    CHECK(parse(token, value) == NumberError::kNotFinite);
  }
}

TEST_CASE("numbers do not depend on the locale") {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  bool found = false;
  for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "C.UTF-8"}) {
    found = found || std::setlocale(LC_ALL, name) != nullptr;
  }
  CHECK(found);
  float value = 0;
  CHECK(parse("0.5", value) == NumberError::kNone);
  CHECK(value == 0.5F);
  CHECK(parse("0,5", value) == NumberError::kNotANumber);
  std::setlocale(LC_ALL, before.c_str());
}

TEST_CASE("what is no UTF-8 is written out, and two such texts stay two") {
  CHECK(as_utf8("Z\xC3\xBCrich \xE2\x82\xAC \xF0\x9F\x98\x80") ==
        "Z\xC3\xBCrich \xE2\x82\xAC \xF0\x9F\x98\x80");
  CHECK(as_utf8("caf\xE9") == "caf\\xE9");
  CHECK(as_utf8("\xFF") != as_utf8("\xFE"));
  CHECK(as_utf8("x\xC3") == "x\\xC3");                           // cut off
  CHECK(as_utf8("\xC0\xBC") == "\\xC0\\xBC");                    // overlong
  CHECK(as_utf8("\xED\xA0\x80") == "\\xED\\xA0\\x80");           // a surrogate
  CHECK(as_utf8("\xF4\x90\x80\x80") == "\\xF4\\x90\\x80\\x80");  // beyond U+10FFFF
  CHECK(as_utf8(std::string_view("a\0b", 3)) == std::string_view("a\0b", 3));
}

TEST_CASE("tokens in messages are readable and short") {
  CHECK(printable("a\tb\nZ\xC3\xBCrich") == "a\tb\\x0AZ\xC3\xBCrich");
  CHECK(printable(std::string_view("a\0\r\x1B\xff\xE2\x80\xAE", 8)) ==
        "a\\x00\\x0D\\x1B\\xFF\\xE2\\x80\\xAE");
  CHECK(in_quotes("abc") == "\"abc\"");
  CHECK(in_quotes(std::string_view("a\0\n\xff", 4)) == "\"a\\x00\\x0A\\xFF\"");
  CHECK(in_quotes("Z\xC3\xBCrich") == "\"Z\xC3\xBCrich\"");
  CHECK(in_quotes("a\xE2\x80\xAE"
                  "b\x1b[31m\xC2\x85") ==
        "\"a\\xE2\\x80\\xAE"
        "b\\x1B[31m\\xC2\\x85\"");
  CHECK(in_quotes(std::string(39, 'x') + "\xC3\xBC") == "\"" + std::string(39, 'x') + "\xC3\xBC\"");
  CHECK(in_quotes(std::string(39, 'x') + "\xC3\xBCy") == "\"" + std::string(39, 'x') + "\xC3\xBC...\"");
  CHECK(in_quotes(std::string(100, 'x')) == "\"" + std::string(40, 'x') + "...\"");
}

TEST_CASE("places count lines of every kind of line end and bytes from 1") {
  const std::string bytes = "ab\ncd\r\nef\rgh";
  const std::string source = "f";
  const Text text(bytes, source);
  const auto place = [&](char wanted) {
    const InputError error = test::refusal([&] { text.fail(text.begin() + bytes.find(wanted), "t", "d"); });
    return std::pair(error.line(), error.column());
  };
  CHECK(place('a') == std::pair<std::size_t, std::size_t>(1, 1));
  CHECK(place('d') == std::pair<std::size_t, std::size_t>(2, 2));
  CHECK(place('e') == std::pair<std::size_t, std::size_t>(3, 1));
  CHECK(place('h') == std::pair<std::size_t, std::size_t>(4, 2));
}

TEST_CASE("lines end with LF, CR LF or a lone CR") {
  const auto lines_of = [](std::string_view text) {
    LineReader reader(text);
    std::vector<std::string> lines;
    for (std::string_view line; reader.read(line);) lines.emplace_back(line);
    return lines;
  };
  using Lines = std::vector<std::string>;
  CHECK(lines_of("ab\ncd\r\nef\rgh") == Lines{"ab", "cd", "ef", "gh"});
  CHECK(lines_of("a\r\rb\r") == Lines{"a", "", "b"});
  CHECK(lines_of("a\n\rb") == Lines{"a", "", "b"});
  CHECK(lines_of("a\r\r\nb\n") == Lines{"a", "", "b"});
  CHECK(lines_of("\n") == Lines{""});
  CHECK(lines_of("").empty());
  LineReader reader("a\n \r\n\t\r\n");
  std::string_view line;
  CHECK_FALSE(reader.is_at_end());
  CHECK(reader.read(line));
  CHECK(reader.is_at_end());
  // Each line looks no further than its end.
  std::string many;
  for (int k = 0; k < 1000000; ++k) many += "1\r";
  CHECK(lines_of(many).size() == 1000000);
}

TEST_CASE("words for a missing value") {
  for (const char* word : {"", "?", "NA", "n/a", "NaN", "nan", "NULL"}) CHECK(means_missing(word));
  for (const char* word : {"0", "none", "a", "nancy"}) CHECK_FALSE(means_missing(word));
}

}  // namespace
}  // namespace adbo::io::detail
