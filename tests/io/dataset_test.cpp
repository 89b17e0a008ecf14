#include "io/dataset.h"

#include <cstdint>
#include <initializer_list>
#include <string>

#include "io_support.h"
#include "support/zip_writer.h"

namespace adbo::io {
namespace {

using test::be32;
using test::Names;
using test::Numbers;
using test::Row;
using test::row_of;

const std::string kNul(1, '\0');
const std::string kIdxImages = kNul + kNul + "\x08\x02" + be32(2) + be32(3) + "abcdef";
const std::string kIdxLabels = kNul + kNul + "\x08\x01" + be32(2) + "\x04\x02";
const std::string kNpy = test::npy_bytes("(2, 3)", "abcdef");

Table parse(std::string_view data, DatasetRequest request = {}, std::string_view labels = {}) {
  request.path = "data";
  return parse_dataset(request, data, labels);
}
std::string refusal(std::string_view data, const DatasetRequest& request = {}, std::string_view labels = {}) {
  return test::message_of([&] { (void)parse(data, request, labels); });
}
DatasetRequest with_labels() {
  DatasetRequest request;
  request.labels_path = "labels";
  return request;
}

TEST_CASE("the content decides the format, packed or not") {
  const std::string cifar = "\x03" + std::string(3072, '\x01');
  const std::string cifar100 = "\x03\x21" + std::string(3072, '\x01');
  struct Case {
    std::string data, format;
  };
  for (const Case& one : {Case{kIdxImages, "idx"},
                          {kNpy, "npy"},
                          {cifar + cifar, "cifar10"},
                          {cifar100, "cifar100"},
                          {"1 1:1 3:2\n", "libsvm"},
                          {"-1\n\n# c\n+1 3:2\n", "libsvm"},
                          {"\xEF\xBB\xBF+1 1:1\n", "libsvm"},
                          {"1 qid:3 1:2\n", "libsvm"},
                          {"1 -3:1 2:1\n1 0:1\n", "refused libsvm"},
                          {"1,2,3\n", "csv"},
                          {"1 2 3\n", "csv"},
                          {"a;b;c\n1;2;3\n", "csv"}}) {
    CAPTURE(one.data);
    if (one.format == "refused libsvm") {
      CHECK(refusal(one.data).find("negative index") != std::string::npos);
      continue;
    }
    CHECK(parse(one.data).format == one.format);
    CHECK(parse(test::gzip(one.data)).format == one.format);
    CHECK(parse(test::gzip(one.data)).digest == parse(one.data).digest);
  }
}

TEST_CASE("labels of their own file") {
  CHECK(parse(kIdxImages, with_labels(), kIdxLabels).label_names == Names{"2", "4"});
  CHECK(parse(kIdxImages, with_labels(), test::gzip(kIdxLabels)).labels == Numbers{1, 0});
  CHECK(parse(kNpy, with_labels(), kIdxLabels).labels == Numbers{1, 0});
  const Table text = parse("1 2\n3 4\n5 6\n", with_labels(), "b\r\na\r\nb\r\n\r\n");
  CHECK(text.label_names == Names{"a", "b"});
  CHECK(text.labels == Numbers{1, 0, 1});
  CHECK(row_of(text, 0) == Row{1, 2});
  CHECK(parse("1 2\n3 4\n5 6\n", with_labels(), "\"a,b\"\n\"say \"\"x\"\"\"\n\" \"\n").label_names ==
        Names{" ", "a,b", "say \"x\""});
  CHECK(parse("1 2\n3 4\n", with_labels(), "\"0\"\n0\n").label_names == Names{"0"});
  CHECK(parse("1 2\n3 4\n", with_labels(), "\"a\" or \"b\"\n\"\n").label_names ==
        Names{"\"", "\"a\" or \"b\""});
  for (const std::string_view labels : {"b\ra\rb\r", "b\ra\nb\n\n\n", "b\na\r\nb \r\n \t\n"}) {
    CAPTURE(labels);
    CHECK(parse("1 2\n3 4\n5 6\n", with_labels(), labels).labels == Numbers{1, 0, 1});
  }
  CHECK(text.digest != parse("1 2\n3 4\n5 6\n", with_labels(), "b\na\na\n").digest);
  CHECK(refusal("1 2\n3 4\n", with_labels(), "a\nb\nc\n") ==
        "labels: has 3 labels, but data has 2 rows: do the two files belong together?");
  CHECK(refusal(kIdxImages, with_labels(), "1\n") ==
        "labels: has 1 labels, but data has 2 rows: do the two files belong together?");
  CHECK(refusal("1 2\n3 4\n", with_labels(), "a\n\nb\n") == "labels:2:1: expected a label, found \"\"");
  for (const std::string table :
       {"0,1\n1,0\n", "id;label\n0;1\n", "a\tb\nc\td\n", "0 1\n1 0\n", "-1 1:0.5 2:1\n1 1:0.5\n"}) {
    CHECK(refusal("1 2\n3 4\n", with_labels(), table)
              .starts_with("labels:1:1: expected one label a line, found a row"));
  }
  CHECK(parse("1 2\n3 4\n", with_labels(), "\"a,b\"\n\"c\"\n").label_names.size() == 2);
  CHECK(refusal("1 2\n3 4\n", with_labels(), "a\nnan\n") == "labels:2:1: expected a label, found \"nan\"");
  CHECK(refusal("1 2\n3 4\n", with_labels(), "").starts_with("labels: is empty"));
  CHECK(refusal("1 2\n3 4\n", with_labels(), kNul + "x") ==
        "labels: is a binary file of unknown format; expected labels as IDX, NPY, NPZ or text, one a line");
}

std::string npy_labels(const std::string& type, std::initializer_list<std::uint64_t> values) {
  std::string bytes;
  for (const std::uint64_t value : values) bytes += test::little_endian(value, 8);
  return test::npy(type, "(" + std::to_string(values.size()) + ",)", bytes);
}

TEST_CASE("integer labels that no double tells apart are classes of their own, in every format") {
  const std::string rows = "1 2\n3 4\n5 6\n7 8\n";
  const Names large{"9007199254740992", "9007199254740993"};
  const std::uint64_t first = 9007199254740992u, second = first + 1;
  for (const char* const type : {"<i8", "<u8"}) {
    const Table table = parse(rows, with_labels(), npy_labels(type, {second, first, first, second}));
    CHECK(table.label_names == large);
    CHECK(table.labels == Numbers{1, 0, 0, 1});
  }
  CHECK(parse(rows, with_labels(), npy_labels("<u8", {~0ull, ~0ull - 1, 5, 5})).label_names ==
        Names{"5", "18446744073709551614", "18446744073709551615"});
  CHECK(parse(rows, with_labels(), npy_labels("<i8", {~0ull, 5, 100000, 0 - second})).label_names ==
        Names{"-9007199254740993", "-1", "5", "100000"});
  const std::string lines = large[1] + "\n" + large[0] + "\n-" + large[0] + "\n-" + large[1] + "\n";
  const Names both{"-" + large[0], "-" + large[1], large[0], large[1]};
  CHECK(parse(rows, with_labels(), lines).label_names == both);
  const std::string csv =
      "1," + large[1] + "\n2," + large[0] + "\n3,-" + large[0] + "\n4,-" + large[1] + "\n";
  CHECK(parse(csv).label_names == both);
  CHECK(parse(large[1] + " 1:1\n" + large[0] + " 1:1\n-" + large[0] + " 1:1\n-" + large[1] + " 1:1\n")
            .label_names == both);
  // One number, spelt in four ways.
  CHECK(parse("1,1e15\n2,1000000000000000\n3,1000000000000000.0\n4,+100000000000000000e-2\n5,5\n")
            .label_names == Names{"5", "1e15"});
  CHECK(parse("1,12345678901234567\n2,12345678901234567.0\n3,1.2345678901234567E16\n4,12345678901234568\n")
            .label_names == Names{"12345678901234567", "12345678901234568"});
  CHECK(parse("1,0e9\n2,-0.0\n3,0.10\n4,1e-1\n5,1E-9223372036854775807\n").label_names ==
        Names{"0e9", "0.10"});
  CHECK(parse("1,9007199254740993\n2,+9007199254740993\n3,009007199254740993\n4,-0\n5,0\n").label_names ==
        Names{"-0", "9007199254740993"});
}

TEST_CASE("options reach their reader") {
  DatasetRequest request;
  request.label_column = "y";
  request.id_column = "1";
  const Table csv = parse("n,y,a\nr,1,2\n", request);
  CHECK(csv.ids == Names{"r"});
  CHECK(csv.label_names == Names{"1"});
  DatasetRequest wide;
  wide.min_columns = 9;
  wide.index_base = IndexBase::kZero;
  CHECK(column_count(parse("1 1:1\n", wide)) == 9);
  CHECK(parse("1 1:1\n", wide).index_base == 0);
  DatasetRequest header;
  header.header = HeaderMode::kPresent;
  CHECK(row_count(parse("1,2\n3,4\n", header)) == 1);
}

TEST_CASE("options of another file have no effect on another format") {
  DatasetRequest request;
  request.label_column = "y";
  request.id_column = "n";
  request.header = HeaderMode::kPresent;
  request.index_base = IndexBase::kOne;
  request.follows_another = true;
  CHECK(row_count(parse("1 1:1\n", request)) == 1);
  CHECK(row_count(parse("n,y,a\nr,1,2\n", request)) == 1);
  CHECK(row_count(parse(kIdxImages, request)) == 2);
  CHECK(row_count(parse(kNpy, request)) == 2);
}

TEST_CASE("options without effect are refused") {
  DatasetRequest request;
  request.label_column = "y";
  CHECK(refusal("1 1:1\n", request) ==
        "data: recognised as LIBSVM by its content, where a label column has no effect (only in CSV)");
  request = {};
  request.id_column = "1";
  CHECK(refusal(kIdxImages, request) ==
        "data: recognised as IDX by its content, where an id column has no effect (only in CSV)");
  request = {};
  request.header = HeaderMode::kAbsent;
  CHECK(refusal(kNpy, request) ==
        "data: recognised as NPY by its content, where a header has no effect (only in CSV)");
  request = {};
  request.index_base = IndexBase::kOne;
  CHECK(refusal("1,2\n", request) ==
        "data: recognised as CSV by its content, where an index base has no effect (only in LIBSVM)");
  CHECK(refusal("1 1:1\n", with_labels(), "1\n") ==
        "data: recognised as LIBSVM by its content, where a file of labels has no effect (its rows have "
        "labels of their "
        "own)");
  request = with_labels();
  request.label_column = "3";
  CHECK(refusal("1,2,3\n", request, "1\n") ==
        "data: both a label column (\"3\") and a file of labels (labels): give one of them");
}

TEST_CASE("known formats that are not supported are named") {
  struct Case {
    std::string data, name;
  };
  for (const Case& one : {Case{"BZh91AY", "bzip2 data"},
                          {"\xfd"
                           "7zXZ",
                           "xz data"},
                          {"\x28\xb5\x2f\xfd", "zstd data"},
                          {"\x89HDF\r\n", "an HDF5 file"},
                          {"\x89PNG\r\n", "a single PNG picture"},
                          {"\xff\xd8\xff\xe0", "a single JPEG picture"},
                          {"\xff\xfe"
                           "1",
                           "UTF-16 text"},
                          {std::string("\xff\xfe\0\0", 4), "UTF-32 text"},
                          {std::string("\0\0\xfe\xff", 4), "UTF-32 text"},
                          {"PAR1", "a Parquet file"},
                          {"<!DOCTYPE html>", "a web page"},
                          {"<html>", "a web page"}}) {
    CAPTURE(one.name);
    CHECK(refusal(one.data).starts_with("data: this is " + one.name +
                                        ", not one of LIBSVM, CSV, IDX, NPY, NPZ, CIFAR binary"));
  }
  CHECK(refusal(test::gzip(test::gzip("1,2\n"))).starts_with("data: this is gzip data inside gzip data"));
  CHECK(
      refusal("abc" + kNul + "def") ==
      "data: is a binary file of unknown format (7 bytes); expected one of LIBSVM, CSV, IDX, NPY, NPZ, CIFAR "
      "binary, each "
      "also gzipped");
  CHECK(refusal("") == "data: is empty");
}

TEST_CASE("a damaged CIFAR file: what keeps it from being one") {
  const std::string record(3073, '\0');
  CHECK(refusal(record + record + "12345")
            .ends_with("; it is no CIFAR-10 binary (expected records of 3073 bytes, found 6151 bytes: 2 "
                       "records and 5 bytes "
                       "more) and no CIFAR-100 binary (expected records of 3074 bytes, found 6151 bytes: 2 "
                       "records and 3 bytes "
                       "more)"));
  std::string wrong = record + record;
  wrong[3073] = '\xc8';
  CHECK(refusal(wrong).find(
            "no CIFAR-10 binary (record 2 (counted from 1): expected a label from 0 to 9, found "
            "200)") != std::string::npos);
  // Text at its beginning: it is none, and its records are not what keeps it from being one.
  CHECK(refusal(std::string(3073, '\t') + record).ends_with("binary, each also gzipped"));
}

TEST_CASE("files") {
  const test::TemporaryDirectory directory;
  DatasetRequest request;
  request.path = directory / "x";
  CHECK(test::message_of([&] { (void)read_dataset(request); }) == request.path + ": no such file");
  test::put_file(request.path, test::gzip(kIdxImages));
  request.labels_path = directory / "y";
  CHECK(test::message_of([&] { (void)read_dataset(request); }) == request.labels_path + ": no such file");
  test::put_file(request.labels_path, "one\ntwo\n");
  const Table table = read_dataset(request);
  CHECK(table.source == request.path);
  CHECK(table.label_names == Names{"one", "two"});
  request.max_unpacked_bytes = 10;
  CHECK(test::message_of([&] { (void)read_dataset(request); }) ==
        request.path +
            ": its 35 bytes unpack to more than the 10 bytes allowed; if they are meant to, unpack the file "
            "first");
}

TEST_CASE("tables agree on their classes") {
  Table train = parse("0,+1\n0,2\n0,10\n"), test = parse("0,1\n0,3\n0,10.0\n"),
        unlabelled = parse(kIdxImages);
  Table* const tables[] = {&train, &test, &unlabelled};
  unify_label_names(tables);
  CHECK(train.label_names == Names{"+1", "2", "3", "10"});
  CHECK(test.label_names == train.label_names);
  CHECK(unlabelled.label_names == train.label_names);
  CHECK(train.labels == Numbers{0, 1, 3});
  CHECK(test.labels == Numbers{0, 2, 3});
  CHECK(unlabelled.labels.empty());
}

TEST_CASE("tables are widened with zeros") {
  Table sparse = parse("1 1:1 10:2\n"), dense = parse("1 1:1 2:2\n2 1:3 2:4\n");
  widen(sparse, 12);
  CHECK(column_count(sparse) == 12);
  CHECK(row_of(sparse, 0)[9] == 2);
  widen(dense, 5);
  CHECK(test::is_dense(dense));
  widen(dense, 40);
  CHECK(column_count(dense) == 40);
  CHECK_FALSE(test::is_dense(dense));  // four values in eighty cells
  CHECK(row_of(dense, 1)[1] == 4);
  CHECK(row_of(dense, 1)[39] == 0);
  widen(dense, 3);
  CHECK(column_count(dense) == 40);
  Table named = parse("a,b\n1,2\n");
  CHECK_THROWS_AS(widen(named, 5), std::invalid_argument);
  Table few = parse("1 1:1 2:2\n2 1:3 2:4\n");
  widen(few, std::size_t{2'000'000'000});  // sparse, or there would be no memory for it
  CHECK(column_count(few) == 2'000'000'000);
}

TEST_CASE("tables are stored alike, with the same values") {
  Table sparse = parse("1 1:1 10:2\n2 3:4\n"), dense = parse("1,0,2,3\n0,5,0,4\n");
  const Row first = row_of(sparse, 0), second = row_of(sparse, 1), third = row_of(dense, 1);
  match_storage(sparse, dense);
  CHECK(test::is_dense(sparse));
  CHECK(row_of(sparse, 0) == first);
  CHECK(row_of(sparse, 1) == second);
  match_storage(dense, parse("1 1:1 10:2\n2 3:4\n"));
  CHECK_FALSE(test::is_dense(dense));
  CHECK(row_of(dense, 1) == third);
  CHECK(column_count(dense) == 3);
}

}  // namespace
}  // namespace adbo::io
