#include "io/npy.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "io/array_view.h"
#include "io_support.h"

namespace adbo::io {
namespace {

using Shape = std::vector<std::size_t>;

std::string npy(const std::string& header, const std::string& data, char version = 1) {
  std::string bytes = std::string("\x93NUMPY") + version + '\0';
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  if (version > 1) bytes += std::string(2, '\0');
  return bytes + header + data;
}

std::string dict(const std::string& descr, const std::string& shape, const std::string& order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

std::string refusal(const std::string& bytes) {
  return test::message_of([&] { (void)parse_npy(bytes, "a.npy"); });
}

TEST_CASE("what is written reads back bit for bit, in NumPy's own layout") {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "a.npy";
  const std::vector<double> values = {
      0.1, -0.0, 1e-310, 1.7976931348623157e308, std::numeric_limits<double>::infinity(), 3};
  write_npy(path, values, Shape{2, 3});
  const NpyArray array = read_npy(path);
  CHECK(array.shape == Shape{2, 3});
  REQUIRE(array.values.size() == 6);
  for (std::size_t k = 0; k < 6; ++k) {
    CHECK(std::bit_cast<std::uint64_t>(array.values[k]) == std::bit_cast<std::uint64_t>(values[k]));
  }
  const std::string bytes = test::get_file(path);
  CHECK(bytes.size() == 128 + 48);  // data aligned to 64 bytes
  CHECK(bytes.substr(0, 10) == std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  CHECK(bytes.substr(10, 60) == "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), } ");
  CHECK(bytes[127] == '\n');
}

TEST_CASE("shapes of any rank") {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "a.npy";
  const std::vector<double> three = {1, 2, 3};
  write_npy(path, three, Shape{3});
  CHECK(read_npy(path).shape == Shape{3});
  CHECK(test::get_file(path).find("(3,)") != std::string::npos);
  write_npy(path, std::span(three).first(1), Shape{});
  CHECK(read_npy(path).shape.empty());
  CHECK(read_npy(path).values == std::vector<double>{1});
  write_npy(path, {}, Shape{0, 5});
  CHECK(read_npy(path).shape == Shape{0, 5});
  CHECK(read_npy(path).values.empty());
  CHECK_THROWS_AS(write_npy(path, three, Shape{4}), std::invalid_argument);
}

TEST_CASE("element types and byte orders") {
  const auto values = [](const std::string& descr, const std::string& data) {
    return parse_npy(npy(dict(descr, "(1,)"), data), "a.npy").values.at(0);
  };
  CHECK(values("<f4", std::string("\x00\x00\xc0\xbf", 4)) == -1.5);
  CHECK(values(">f4", std::string("\xbf\xc0\x00\x00", 4)) == -1.5);
  CHECK(values("<f8", std::string("\x00\x00\x00\x00\x00\x00\xf8\xbf", 8)) == -1.5);
  CHECK(values(">f8", std::string("\xbf\xf8\x00\x00\x00\x00\x00\x00", 8)) == -1.5);
  CHECK(values("<f2", std::string("\x00\xbe", 2)) == -1.5);
  CHECK(values(">f2", std::string("\xbe\x00", 2)) == -1.5);
  CHECK(values("|u1", "\xff") == 255);
  CHECK(values("|i1", "\xff") == -1);
  CHECK(values("|b1", "\x01") == 1);
  CHECK(values("<i2", std::string("\xfe\xff", 2)) == -2);
  CHECK(values("<u4", std::string("\xfe\xff\xff\xff", 4)) == 4294967294.0);
  CHECK(values("<i8", std::string("\xfe\xff\xff\xff\xff\xff\xff\xff", 8)) == -2);
}

TEST_CASE("integers of every width, with and without sign, in both byte orders") {
  for (const std::size_t width : {1, 2, 4, 8}) {
    for (const char order : {'<', '>'}) {
      for (const char kind : {'i', 'u'}) {
        // -2 and the number of the same bits
        std::string bytes(width, '\xff');
        bytes[order == '<' ? 0 : width - 1] = '\xfe';
        const std::string descr = std::string(1, order) + kind + std::to_string(width);
        CAPTURE(descr);
        const double expected = kind == 'i' ? -2.0 : std::ldexp(1.0, static_cast<int>(8 * width)) - 2.0;
        CHECK(parse_npy(npy(dict(descr, "(1,)"), bytes), "a.npy").values.at(0) == expected);
      }
    }
  }
}

TEST_CASE("half precision: every kind of number") {
  const auto half = [](int bits) {
    const std::string data{static_cast<char>(bits & 0xff), static_cast<char>(bits >> 8)};
    return parse_npy(npy(dict("<f2", "(1,)"), data), "a.npy").values.at(0);
  };
  CHECK(half(0x3c00) == 1.0);
  CHECK(half(0x7bff) == 65504.0);               // the largest
  CHECK(half(0x0400) == std::ldexp(1.0, -14));  // the smallest normal one
  CHECK(half(0x0001) == std::ldexp(1.0, -24));  // the smallest of all
  CHECK(half(0x83ff) == -std::ldexp(1023.0, -24));
  CHECK(half(0x3555) == 0.333251953125);
  CHECK(std::signbit(half(0x8000)));
  CHECK(half(0xfc00) == -std::numeric_limits<double>::infinity());
  CHECK(std::isnan(half(0x7e01)));
}

TEST_CASE("Fortran order is turned into C order") {
  const std::vector<double> ascending = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const auto values = [](const std::string& shape, const std::string& data) {
    return parse_npy(npy(dict("|u1", shape, "True"), data), "a.npy").values;
  };
  CHECK(values("(3, 4)", {"\x00\x04\x08\x01\x05\x09\x02\x06\x0a\x03\x07\x0b", 12}) == ascending);
  CHECK(values("(2, 3, 2)", {"\x00\x06\x02\x08\x04\x0a\x01\x07\x03\x09\x05\x0b", 12}) == ascending);
  CHECK(values("(1, 12)", {"\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b", 12}) == ascending);
  CHECK(values("(0, 3)", "").empty());
  const Table table = parse_npy_table(npy(dict("|u1", "(2, 2, 2)", "True"), "aebfcgdh"), "a.npy");
  CHECK(test::row_of(table, 0) == test::Row{'a', 'c', 'b', 'd'});
  CHECK(test::row_of(table, 1) == test::Row{'e', 'g', 'f', 'h'});
  CHECK(test::message_of([&] {
          (void)parse_npy_table(npy(dict("<f2", "(1, 2)", "True"), {"\x00\x00\x00\x7c", 4}), "a.npy");
        }) == "a.npy: row 1, feature 2 (counted from 1): expected a finite number, found inf");
}

TEST_CASE("a number beyond single precision is said as the file has it") {
  const std::vector<double> values = {1, 2, 3, 4, -1e299, 6};  // C order: row 2, feature 2
  const std::vector<double> columns_first = {1, 4, 2, -1e299, 3, 6};
  for (const bool fortran : {false, true}) {
    const std::vector<double>& stored = fortran ? columns_first : values;
    const std::string data(reinterpret_cast<const char*>(stored.data()), stored.size() * sizeof(double));
    CHECK(test::message_of([&] {
            (void)parse_npy_table(npy(dict("<f8", "(2, 3)", fortran ? "True" : "False"), data), "a.npy");
          }) ==
          "a.npy: row 2, feature 2 (counted from 1): expected a number between -3.4e38 and 3.4e38 (single "
          "precision), found -1e+299");
  }
}

TEST_CASE("an NPY file that was cut within its magic bytes is one") {
  for (const std::size_t bytes : {1U, 3U, 5U}) {
    CHECK(detail::looks_like_npy(std::string_view("\x93NUMPY").substr(0, bytes)));
  }
  CHECK_FALSE(detail::looks_like_npy(""));
  CHECK_FALSE(detail::looks_like_npy("\x93M"));
  CHECK(test::message_of([] { (void)parse_npy("\x93NU", "a.npy"); }) ==
        "a.npy: truncated: expected at least the 10 bytes before the NPY header, found 3");
}

TEST_CASE("sizes whose product is beyond any file") {
  CHECK(test::message_of(
            [&] { (void)parse_npy(npy(dict("<f8", "(4294967296, 4294967296)"), "12345678"), "a.npy"); }) ==
        "a.npy: truncated: an array of shape (4294967296, 4294967296) with 8 bytes an element needs 2^64 or "
        "more bytes after the header, found 8");
}

TEST_CASE("header variants") {
  const std::string two(16, '\0');
  for (const char version : {'\x01', '\x02', '\x03'})
    CHECK(parse_npy(npy(dict("<f8", "(2,)"), two, version), "a").shape == Shape{2});
  CHECK(parse_npy(npy("{\"shape\":(2,1),\"fortran_order\":False,\"descr\":\"<f8\"}", two), "a").shape ==
        Shape{2, 1});
  CHECK(parse_npy(npy(dict("<f8", "(2,)", "True"), two), "a").shape ==
        Shape{2});  // rank 1: no order to speak of
}

TEST_CASE("refused arrays") {
  CHECK(refusal(npy(dict("|O", "(2,)"), "")) == "a.npy: an array of Python objects; expected numbers");
  CHECK(refusal(npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,), }", "")) ==
        "a.npy: a structured array; expected an array of plain numbers");
  for (const char* descr : {"<c8", "<f1", "<U5", "|f8", "|f2", "<i3", "f8", "<b2", ""}) {
    CAPTURE(descr);
    CHECK(refusal(npy(dict(descr, "(2,)"), "")) ==
          "a.npy: expected elements f2, f4, f8, b1, or i or u of 1, 2, 4 or 8 bytes, found \"" +
              std::string(descr) + "\"");
  }
  CHECK(refusal(npy(dict("<f8", "(2, 3)"), std::string(40, '\0'))) ==
        "a.npy: truncated: an array of shape (2, 3) with 8 bytes an element needs 48 bytes after the header, "
        "found 40");
  CHECK(refusal(npy(dict("|b1", "(3,)"), {"\x00\x01\x02", 3})) ==
        "a.npy: element 3 (counted from 1) of an array of type bool: expected 0 or 1, found 2");
  CHECK(refusal(npy(dict("<f8", "(2,)"), std::string(17, '\0'))).starts_with("a.npy: too long"));
  CHECK(refusal(npy(dict("<f8", "(1000000000000,)"), "")).starts_with("a.npy: truncated"));
  CHECK(
      refusal(npy(dict("<f8", "(4294967296, 4294967296, 4294967296)"), "")).starts_with("a.npy: truncated"));
}

TEST_CASE("refused headers") {
  CHECK(refusal("no array") == "a.npy: not NPY: expected the magic bytes 93 'NUMPY' at its front");
  CHECK(refusal(npy(dict("<f8", "(2,)"), "", 4)) == "a.npy: NPY version 4; expected version 1, 2 or 3");
  CHECK(refusal(npy(dict("<f8", "(2,)"), "").substr(0, 40)).starts_with("a.npy: truncated: expected "));
  for (const char* header : {"", "{", "{}", "[]", "{'descr': '<f8'}", "{'descr': <f8}", "{'descr': '<f8",
                             "{'descr': '<f8', 'fortran_order': 0, 'shape': (2,)}",
                             "{'descr': '<f8', 'fortran_order': False, 'shape': (-2,)}",
                             "{'descr': '<f8', 'fortran_order': False, 'shape': (2.5,)}",
                             "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999999,)}",
                             "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), 'x': 1}",
                             "{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (2,)}",
                             "{'descr': '<f8', 'fortran_order': False, 'shape': (2,)} and"}) {
    CAPTURE(header);
    CHECK(refusal(npy(header, "")).starts_with("a.npy: malformed NPY header: "));
  }
  std::string ones;
  for (int k = 0; k < 65; ++k) ones += "1,";
  CHECK(refusal(npy(dict("|u1", "(" + ones + ")"), "a"))
            .starts_with("a.npy: malformed NPY header: more than 64 dimensions"));
}

TEST_CASE("arrays as tables") {
  const std::string data("\x01\x02\x03\x04\x05\x06", 6);
  const Table flat = parse_npy_table(npy(dict("|u1", "(2, 3)"), data), "a.npy");
  CHECK(flat.format == "npy");
  CHECK(test::row_of(flat, 1) == test::Row{4, 5, 6});
  CHECK_FALSE(flat.image);
  const Table pictures = parse_npy_table(npy(dict("|u1", "(1, 2, 3)"), data), "a.npy");
  REQUIRE(pictures.image);
  CHECK(pictures.image->width == 3);
  CHECK(test::message_of([&] {
          (void)parse_npy_table(npy(dict("|u1", "(6,)"), data), "a.npy");
        }).starts_with("a.npy: holds 6 numbers in one dimension"));
  CHECK(test::message_of([&] { (void)parse_npy_table(npy(dict("|u1", "()"), "x"), "a.npy"); }) ==
        "a.npy: expected an array of rank 2, 3 or 4 (rows first), found rank 0");
}

TEST_CASE("a missing directory is an output error") {
  CHECK_THROWS_AS(write_npy("/nonexistent-directory/a.npy", std::vector<double>{1}, Shape{1}), OutputError);
}

}  // namespace
}  // namespace adbo::io
