#include "io/idx.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "io/cifar.h"
#include "io_support.h"

namespace adbo::io {
namespace {

using test::be32;
using test::Names;
using test::Numbers;
using test::Row;
using test::row_of;

std::string header(char code, const std::vector<std::size_t>& shape) {
  std::string bytes{'\0', '\0', code, static_cast<char>(shape.size())};
  for (const std::size_t size : shape) bytes += be32(size);
  return bytes;
}

std::string be64(std::uint64_t bits) { return be32(bits >> 32) + be32(bits & 0xffffffffu); }

std::string refusal(std::string_view images) {
  return test::message_of([&] { (void)parse_idx(images, "x.idx"); });
}
std::string refusal(std::string_view images, std::string_view labels) {
  return test::message_of([&] { (void)parse_idx(images, "x.idx", labels, "y.idx"); });
}

const std::string kImages = header(0x08, {2, 2, 3}) + "\x01\x02\x03\x04\x05\x06\xff\x10\x20\x30\x40\x50";
const std::string kLabels = header(0x08, {2}) + "\x07\x03";

TEST_CASE("pictures and labels") {
  const Table table = parse_idx(kImages, "x.idx", kLabels, "y.idx");
  CHECK(table.format == "idx");
  CHECK(table.source == "x.idx");
  REQUIRE(table.image);
  CHECK(table.image->height == 2);
  CHECK(table.image->width == 3);
  CHECK(table.image->channels == 1);
  CHECK(row_of(table, 0) == Row{1, 2, 3, 4, 5, 6});
  CHECK(row_of(table, 1) == Row{255, 16, 32, 48, 64, 80});
  CHECK(table.label_names == Names{"3", "7"});
  CHECK(table.labels == Numbers{1, 0});
  CHECK(parse_idx(kImages, "x.idx").labels.empty());
  CHECK(parse_idx(kImages, "x.idx").digest != table.digest);
}

TEST_CASE("files, packed or not") {
  const test::TemporaryDirectory directory;
  test::put_file(directory / "x", test::gzip(kImages));
  test::put_file(directory / "y", kLabels);
  CHECK(read_idx(directory / "x", directory / "y").labels == Numbers{1, 0});
  CHECK(read_idx(directory / "x").labels.empty());
}

TEST_CASE("every element type") {
  const auto first_row = [](const std::string& bytes) { return row_of(parse_idx(bytes, "x"), 0); };
  CHECK(first_row(header(0x08, {1, 2}) + "\xfe\x01") == Row{254, 1});
  CHECK(first_row(header(0x09, {1, 2}) + "\xfe\x01") == Row{-2, 1});
  CHECK(first_row(header(0x0B, {1, 2}) + std::string("\xff\xfe\x01\x00", 4)) == Row{-2, 256});
  CHECK(first_row(header(0x0C, {1, 2}) + be32(0xfffffffeu) + be32(65536)) == Row{-2, 65536});
  CHECK(first_row(header(0x0D, {1, 2}) + be32(std::bit_cast<std::uint32_t>(-1.5F)) +
                  be32(std::bit_cast<std::uint32_t>(0.25F))) == Row{-1.5F, 0.25F});
  CHECK(first_row(header(0x0E, {1, 2}) + be64(std::bit_cast<std::uint64_t>(-1.5)) +
                  be64(std::bit_cast<std::uint64_t>(0.25))) == Row{-1.5F, 0.25F});
}

TEST_CASE("ranks 2 to 4") {
  CHECK_FALSE(parse_idx(header(0x08, {1, 3}) + "abc", "x").image);
  const Table colour = parse_idx(header(0x08, {1, 2, 1, 3}) + "abcdef", "x");
  REQUIRE(colour.image);
  CHECK(colour.image->height == 2);
  CHECK(colour.image->width == 1);
  CHECK(colour.image->channels == 3);
  CHECK(colour.image->order == PixelOrder::kInterleaved);
  CHECK(refusal(header(0x08, {1, 1, 1, 1, 1}) + "a") ==
        "x.idx: expected an array of rank 2, 3 or 4 (rows first), found rank 5");
}

TEST_CASE("labels of other types are named as numbers") {
  const std::string labels = header(0x0C, {2}) + be32(1000) + be32(0xffffffffu);
  CHECK(parse_idx(kImages, "x.idx", labels, "y.idx").label_names == Names{"-1", "1000"});
}

TEST_CASE("truncated and too long files name both byte counts") {
  CHECK(refusal(kImages.substr(0, kImages.size() - 5)) ==
        "x.idx: truncated: 2 x 2 x 3 elements of 1 bytes need 12 bytes after the header, found 7");
  CHECK(refusal(kImages + "more") ==
        "x.idx: too long: 2 x 2 x 3 elements of 1 bytes need 12 bytes after the header, "
        "found 16");
  CHECK(refusal(kImages.substr(0, 9)) ==
        "x.idx: truncated: expected the 16 bytes of an IDX header of rank 3, found 9");
  CHECK(refusal(kImages.substr(0, 3)) ==
        "x.idx: truncated: expected at least the 4 bytes of IDX's magic number, found 3");
  CHECK(refusal(kImages, kLabels.substr(0, 9))
            .starts_with("y.idx: truncated: 2 elements of 1 bytes need 2 bytes"));
}

TEST_CASE("sizes that no file can hold are refused before any allocation") {
  CHECK(refusal(header(0x0E, {4294967295u, 4294967295u, 4294967295u, 4294967295u}) + "x")
            .starts_with("x.idx: truncated"));
  CHECK(refusal(header(0x08, {1000000000u, 1000}) + "x") ==
        "x.idx: truncated: 1000000000 x 1000 elements of 1 bytes need 1000000000000 bytes after the header, "
        "found 1");
  CHECK(refusal(header(0x08, {4294967295u, 0})) ==
        "x.idx: holds no rows or no features: one of its sizes is 0");
  CHECK(refusal(header(0x08, {0, 28, 28})) == "x.idx: holds no rows or no features: one of its sizes is 0");
}

TEST_CASE("wrong files") {
  CHECK(refusal("1,2,3,4") ==
        "x.idx: not IDX: expected a magic number 00 00 <08, 09, 0B, 0C, 0D or 0E> <rank>, found 31 2C 32 2C");
  CHECK(refusal(header(0x0A, {1, 1}) + "x").starts_with("x.idx: not IDX"));
  CHECK(refusal(kLabels) ==
        "x.idx: holds 2 numbers in one dimension: these look like labels; expected rows of features (rank 2, "
        "3 or 4)");
  CHECK(refusal(kImages, kImages) == "y.idx: expected labels (an array of rank 1), found rank 3");
  CHECK(refusal(kImages, header(0x08, {3}) + "abc") ==
        "y.idx: has 3 labels, but x.idx has 2 rows: do the two files belong together?");
}

TEST_CASE("values that are not finite") {
  const auto with = [](double value) {
    return header(0x0E, {2, 2}) + be64(0) + be64(0) + be64(0) + be64(std::bit_cast<std::uint64_t>(value));
  };
  CHECK(refusal(with(std::nan(""))) ==
        "x.idx: row 2, feature 2 (counted from 1): expected a finite number, found nan");
  CHECK(refusal(with(1e300)).ends_with("(single precision), found 1e+300"));
  CHECK(row_count(parse_idx(with(1e30), "x")) == 2);
  const std::string labels = header(0x0E, {2}) + be64(0) + be64(std::bit_cast<std::uint64_t>(std::nan("")));
  CHECK(refusal(kImages, labels) == "y.idx: label 2 (counted from 1): expected a finite number, found nan");
}

std::string cifar_record(const std::string& labels, char first_pixel) {
  std::string record = labels + std::string(3072, '\x05');
  record[labels.size()] = first_pixel;
  record.back() = '\xff';
  return record;
}

TEST_CASE("CIFAR-10") {
  const std::string bytes = cifar_record("\x06", 'a') + cifar_record("\x01", 'b');
  const Table table = parse_cifar10(bytes, "batch.bin");
  CHECK(table.format == "cifar10");
  CHECK(row_count(table) == 2);
  CHECK(column_count(table) == 3072);
  CHECK(table.label_names == Names{"1", "6"});
  CHECK(table.labels == Numbers{1, 0});
  CHECK(row_of(table, 1)[0] == 'b');
  CHECK(row_of(table, 1)[3071] == 255);
  REQUIRE(table.image);
  CHECK(table.image->channels == 3);
  CHECK(table.image->order == PixelOrder::kPlanar);
  CHECK(looks_like_cifar10(bytes));
  CHECK_FALSE(looks_like_cifar100(bytes));
  CHECK(test::message_of([&] { (void)parse_cifar10(bytes + "xy", "b"); }) ==
        "b: expected records of 3073 bytes, found 6148 bytes: 2 records and 2 bytes more");
  CHECK(test::message_of([&] {
          (void)parse_cifar10("", "b");
        }).starts_with("b: expected records of 3073 bytes"));
  const std::string bad = cifar_record("\x06", 'a') + cifar_record("\x0a", 'b');
  CHECK_FALSE(looks_like_cifar10(bad));
  CHECK(test::message_of([&] { (void)parse_cifar10(bad, "b"); }) ==
        "b: record 2 (counted from 1): expected a label from 0 to 9, found 10");
}

TEST_CASE("text of the size of a CIFAR file is text") {
  CHECK_FALSE(looks_like_cifar10("\t" + std::string(3072, '1')));
}

TEST_CASE("CIFAR-100: the fine classes") {
  const std::string bytes = cifar_record("\x13\x63", 'a') + cifar_record(std::string("\x00\x05", 2), 'b');
  const Table table = parse_cifar100(bytes, "test.bin");
  CHECK(table.format == "cifar100");
  CHECK(table.label_names == Names{"5", "99"});
  CHECK(row_of(table, 0)[0] == 'a');
  CHECK(looks_like_cifar100(bytes));
  CHECK(test::message_of([&] { (void)parse_cifar100(cifar_record("\x14\x05", 'a'), "t"); }) ==
        "t: record 1 (counted from 1): expected a label from 0 to 19, found 20");
}

}  // namespace
}  // namespace adbo::io
