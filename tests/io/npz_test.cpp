// NPZ archives: which array is read, and what damaged or hostile archives are refused with.

#include <string>
#include <vector>

#include "io/byte_source.h"
#include "io/dataset.h"
#include "io_support.h"
#include "support/zip_writer.h"

namespace adbo::io {
namespace {

using test::Names;
using test::npy_bytes;
using test::Numbers;
using test::Row;
using test::row_of;
using test::zip;
using test::ZipEntry;

const std::string kRows = npy_bytes("(2, 3)", "abcdef");
const std::string kOtherRows = npy_bytes("(2, 3)", "ghijkl");
const std::string kLabels = npy_bytes("(2,)", "\x04\x02");

Table parse(std::string_view data, DatasetRequest request = {}, std::string_view labels = {}) {
  request.path = "d.npz";
  return parse_dataset(request, data, labels);
}
Table parse_member(std::string_view data, const std::string& member) {
  DatasetRequest request;
  request.member = member;
  return parse(data, request);
}
std::string refusal(std::string_view data, const DatasetRequest& request = {}, std::string_view labels = {}) {
  return test::message_of([&] { (void)parse(data, request, labels); });
}

TEST_CASE("features and labels are found by their names, stored or deflated") {
  for (const int method : {0, 8}) {
    struct Named {
      std::string x, y;
    };
    for (const Named& one : {Named{"X", "y"},
                             {"x", "Y"},
                             {"data", "target"},
                             {"images", "labels"},
                             {"Features", "label"},
                             {"x_train", "y_train"}}) {
      const std::string &x = one.x, &y = one.y;
      CAPTURE(x);
      const std::string archive = zip({{x + ".npy", kRows, method}, {y + ".npy", kLabels, method}});
      const Table table = parse(archive);
      CHECK(table.format == "npy");
      CHECK(table.source == "d.npz:" + x);
      CHECK(row_of(table, 1) == Row{'d', 'e', 'f'});
      CHECK(table.label_names == Names{"2", "4"});
      CHECK(table.labels == Numbers{1, 0});
      CHECK(table.notes.back() == "features are the array \"" + x + "\", labels the array \"" + y + "\"");
      CHECK(parse(test::gzip(archive)).digest == table.digest);
    }
  }
}

TEST_CASE("an archive of one array needs no name") {
  CHECK(row_of(parse(zip({{"arr_0.npy", kRows}})), 0) == Row{'a', 'b', 'c'});
  CHECK(parse(zip({{"arr_0.npy", kRows}})).labels.empty());
  CHECK(row_of(parse(zip({{"arr_0.npy", kRows}}, "a comment, with PK\x05\x06 in it")), 0) ==
        Row{'a', 'b', 'c'});
}

TEST_CASE("an array is named after a colon") {
  const std::string archive = zip({{"x_train.npy", kRows, 8},
                                   {"y_train.npy", kLabels, 8},
                                   {"x_test.npy", kOtherRows, 8},
                                   {"y_test.npy", npy_bytes("(2,)", "\x02\x07"), 8}});
  CHECK(refusal(archive) ==
        "d.npz: which of its arrays holds the features? Name one of them as d.npz:NAME; its arrays: "
        "\"x_train\", \"y_train\", \"x_test\", \"y_test\"");
  const Table tested = parse_member(archive, "x_test");
  CHECK(row_of(tested, 0) == Row{'g', 'h', 'i'});
  CHECK(tested.label_names == Names{"2", "7"});
  CHECK(parse_member(archive, "x_test.npy").digest == tested.digest);
  CHECK(test::message_of([&] { (void)parse_member(archive, "z"); }) ==
        "d.npz: holds no array called \"z\"; its arrays: \"x_train\", \"y_train\", \"x_test\", \"y_test\"");

  const test::TemporaryDirectory directory;
  test::put_file(directory / "d.npz", archive);
  DatasetRequest request;
  request.path = directory / "d.npz:x_test";
  request.labels_path = directory / "d.npz:y_train";
  CHECK(read_dataset(request).label_names == Names{"2", "4"});
  test::put_file(directory / "d.npz:x_test", "1,2\n3,4\n");  // a file of that very name is that file
  request.labels_path.clear();
  CHECK(read_dataset(request).format == "csv");
  request.path = directory / "e.npz:x_test";
  CHECK(test::message_of([&] { (void)read_dataset(request); }) == request.path + ": no such file");
  test::put_file(directory / "t.csv", "1,2\n3,4\n");
  request.path = directory / "t.csv:x";
  CHECK(test::message_of([&] { (void)read_dataset(request); }) ==
        (directory / "t.csv") + ": is no NPZ archive that could hold an array \"x\"");
}

TEST_CASE("labels of an archive of their own, or of none") {
  DatasetRequest request;
  request.labels_path = "l.npz";
  CHECK(parse(kRows, request, zip({{"arr_0.npy", kLabels}})).labels == Numbers{1, 0});
  CHECK(parse(kRows, request, zip({{"i.npy", kRows}, {"labels.npy", kLabels}})).labels == Numbers{1, 0});
  CHECK(refusal(kRows, request, zip({{"a.npy", kRows}, {"b.npy", kLabels}})) ==
        "l.npz: which of its arrays holds the labels? Name one of them as l.npz:NAME; its arrays: \"a\", "
        "\"b\"");
  request.labels_member = "b";
  CHECK(parse(kRows, request, zip({{"a.npy", kRows}, {"b.npy", kLabels}})).labels == Numbers{1, 0});
  CHECK(refusal(kRows, request, kLabels) == "l.npz: is no NPZ archive that could hold an array \"b\"");
}

TEST_CASE("two arrays for one purpose are not guessed between") {
  CHECK(refusal(zip({{"x.npy", kRows}, {"data.npy", kRows}})).find("holds the features") !=
        std::string::npos);
  CHECK(refusal(zip({{"x.npy", kRows}, {"y.npy", kLabels}, {"target.npy", kLabels}}))
            .find("holds the labels") != std::string::npos);
  CHECK(refusal(zip({{"a.npy", kRows}, {"b.npy", kRows}})).find("holds the features") != std::string::npos);
  CHECK(test::message_of([&] {
          (void)parse_member(zip({{"a.npy", kRows}, {"a.npy", kRows}}), "a");
        }).find("holds several arrays called \"a\"") != std::string::npos);
}

TEST_CASE("archives that are no NPZ") {
  CHECK(
      refusal(zip({{"readme.txt", "hello"}})) ==
      "d.npz: a zip archive without arrays (NPZ holds members NAME.npy; here: \"readme.txt\"); unpack it and "
      "give the file inside");
  CHECK(refusal(zip({})).find("here: none") != std::string::npos);
  CHECK(refusal(zip({{"x.npy", "hello"}})) == "d.npz:x: is no NPY array");
  CHECK(refusal(zip({{"data.npy", kLabels}, {"indices.npy", kLabels}, {"indptr.npy", kLabels}})) ==
        "d.npz: holds a sparse matrix of SciPy; save it as LIBSVM (sklearn.datasets.dump_svmlight_file)");
  CHECK(refusal(zip({{"x.npy", kRows, 0, 1}})) == "d.npz:x: is encrypted");
  CHECK(refusal(zip({{"x.npy", kRows, 12}})) ==
        "d.npz:x: is packed by zip's method 12; expected 0 (stored) or 8 (deflated)");
  CHECK(refusal(zip({{"x.npy", kRows, 0, 0, 0xffffffff}})) ==
        "d.npz: damaged zip archive: the sizes of \"x.npy\" are missing");
}

TEST_CASE("archives as they are written beyond two gibibytes") {
  for (const bool large_end : {false, true}) {
    const std::string archive =
        zip({{"x.npy", kRows, 8, 0, 0, 0, true}, {"y.npy", kLabels, 0, 0, 0, 0, true}}, "", large_end);
    CHECK(row_of(parse(archive), 1) == Row{'d', 'e', 'f'});
    CHECK(parse(archive).labels == Numbers{1, 0});
    for (std::size_t at = 0; at < archive.size(); ++at) {  // no byte of it may lead astray
      std::string damaged = archive;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x80);
      try {
        (void)parse(damaged);
      } catch (const InputError&) {
      }
    }
  }
  std::string no_record = zip({{"x.npy", kRows}}, "", true);
  no_record[no_record.find("PK\x06\x06")] = 'Q';
  CHECK(refusal(no_record) == "d.npz: damaged zip archive: its zip64 record is not found");
}

TEST_CASE("damaged archives") {
  const std::string good = zip({{"x.npy", kRows, 8}});
  for (std::size_t size = 4; size < good.size(); ++size) {
    CAPTURE(size);
    CHECK(refusal(good.substr(0, size)) ==
          "d.npz: truncated or damaged zip archive: its directory is not found at its end");
  }
  CHECK(refusal(zip({{"x.npy", kRows, 8, 0, 0, 1}})) ==
        "d.npz:x: damaged zip archive: \"x.npy\" fails its checksum");
  CHECK(refusal(zip({{"x.npy", kRows, 8, 0, kRows.size() + 1}})).find("its directory says") !=
        std::string::npos);
  std::string moved = good;
  moved.replace(good.size() - 6, 4, test::little_endian(good.size(), 4));
  CHECK(refusal(moved) == "d.npz: damaged zip archive: its directory lies beyond the end of the file");
}

TEST_CASE("an archive that unpacks to more than it says or may is refused while it is small in memory") {
  const std::string zeros(std::size_t{4} << 20, '\0');
  DatasetRequest request;
  request.max_unpacked_bytes = 100'000;
  CHECK(refusal(zip({{"x.npy", zeros, 8}}), request).find("unpack to more than the 100000 bytes allowed") !=
        std::string::npos);
  CHECK(refusal(zip({{"x.npy", zeros, 8, 0, 5000}})).find("unpack to more than the 5000 bytes allowed") !=
        std::string::npos);
}

TEST_CASE("what may be unpacked depends on what is there to unpack and on the memory") {
  constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
  CHECK(unpack_limit(1000, 8 * kGiB, 64 * kGiB) == kGiB);
  CHECK(unpack_limit(kGiB / 100, 8 * kGiB, 64 * kGiB) == 200 * (kGiB / 100));
  CHECK(unpack_limit(kGiB, 8 * kGiB, 64 * kGiB) == 8 * kGiB);
  CHECK(unpack_limit(kGiB, 8 * kGiB, 4 * kGiB) == 2 * kGiB);
  CHECK(unpack_limit(kGiB, 10, 4 * kGiB) == 10);
}

}  // namespace
}  // namespace adbo::io
