#include "io/libsvm.h"

#include <string>

#include "io_support.h"

namespace adbo::io {
namespace {

using test::Names;
using test::Numbers;
using test::Row;
using test::row_of;

Table parse(std::string_view text, const LibsvmOptions& options = {}) {
  return parse_libsvm(text, "f.libsvm", options);
}
std::string refusal(std::string_view text, const LibsvmOptions& options = {}) {
  return test::message_of([&] { (void)parse(text, options); });
}

TEST_CASE("a small dense file") {
  const Table table = parse("+1 1:0.5 2:-2 3:1e1\n-1 1:1 3:4\n");
  CHECK(table.format == "libsvm");
  CHECK(table.source == "f.libsvm");
  CHECK(table.index_base == 1);
  CHECK(table.notes.empty());
  CHECK(table.label_names == Names{"-1", "+1"});
  CHECK(table.labels == Numbers{1, 0});
  REQUIRE(test::is_dense(table));
  CHECK(row_of(table, 0) == Row{0.5F, -2, 10});
  CHECK(row_of(table, 1) == Row{1, 0, 4});
  CHECK(table.ids.empty());
  CHECK_FALSE(table.image);
}

TEST_CASE("few non-zeros stay sparse") {
  const Table table = parse("1 1:1 10:2\n2 5:3\n3\n");
  REQUIRE_FALSE(test::is_dense(table));
  const auto& rows = std::get<kernels::SparseRows>(table.features);
  CHECK(rows.cols == 10);
  CHECK(rows.row_begin == std::vector<std::int64_t>{0, 2, 3, 3});
  CHECK(rows.column == Numbers{0, 9, 4});
  CHECK(rows.value == Row{1, 2, 3});
}

TEST_CASE("the share of non-zeros decides, explicit zeros not counted") {
  // 3 non-zeros in 10 cells are dense, 2 and a zero are sparse.
  CHECK(test::is_dense(parse("1 1:1 2:1 10:1\n")));
  const Table sparse = parse("1 1:1 2:0 10:1\n");
  REQUIRE_FALSE(test::is_dense(sparse));
  CHECK(std::get<kernels::SparseRows>(sparse.features).nonzeros() == 2);
}

TEST_CASE("explicit zeros are no entries, but they count for the width") {
  const Table table = parse("1 1:1 13:0.0\n1 1:-0\n");
  CHECK(column_count(table) == 13);
  CHECK(std::get<kernels::SparseRows>(table.features).nonzeros() == 1);
}

TEST_CASE("every accepted layout of lines") {
  const Table plain = parse("1 1:1 2:2\n2 1:3 2:4\n");
  for (const std::string_view text :
       {"1 1:1 2:2\n2 1:3 2:4", "1 1:1 2:2\r\n2 1:3 2:4\r\n", "\n1 1:1 2:2\n\n\n2 1:3 2:4\n\n",
        "1 1:1 2:2\r2 1:3 2:4\r", "# head\r1 1:1 2:2\r\n2 1:3 2:4\n", "1 1:1 2:2 # tail\r2 1:3 2:4\r",
        "1 1:1 2:2   \n2 1:3 2:4\t\n", "  1\t1:1  2:2\n2 1:3 2:4\n",
        "# head\n1 1:1 2:2 # tail 3:x\n   # more\n2 1:3 2:4#tail\n",
        "\xEF\xBB\xBF"
        "1 1:1 2:2\n2 1:3 2:4\n",
        "1 1:1e0 2:+2.0\n2.0 001:3 02:.4e1\n", "1 qid:7 1:1 2:2\n2 qid:7 1:3 2:4\n",
        "1 2:2 1:1\n2 1:3 2:4\n"}) {
    CAPTURE(text);
    const Table table = parse(text);
    CHECK(row_count(table) == 2);
    CHECK(row_of(table, 0) == row_of(plain, 0));
    CHECK(row_of(table, 1) == row_of(plain, 1));
    CHECK(table.labels == plain.labels);
  }
}

TEST_CASE("skipped and sorted things are reported") {
  const Table ranked = parse("1 qid:7 1:1\n2 qid:8 1:3\n");
  CHECK(ranked.notes == Names{"skipped 2 qid tokens"});
  const Table unsorted = parse("1 3:3 1:1 2:2\n1 1:1 2:1 3:1\n");
  CHECK(row_of(unsorted, 0) == Row{1, 2, 3});
  CHECK(unsorted.sorted_rows == 1);
  CHECK(unsorted.notes == Names{"sorted the indices of 1 rows"});
}

TEST_CASE("index base") {
  SUBCASE("auto: one, unless a zero occurs") {
    CHECK(row_of(parse("1 1:5 2:6\n"), 0) == Row{5, 6});
    const Table zero = parse("1 1:5 2:6\n1 0:4\n");
    CHECK(zero.index_base == 0);
    CHECK(row_of(zero, 0) == Row{0, 5, 6});
    CHECK(row_of(zero, 1) == Row{4, 0, 0});
    CHECK(zero.notes == Names{"index 0 occurs: indices are taken to begin at 0"});
  }
  SUBCASE("an explicit zero value at index 0 decides as well") {
    CHECK(parse("1 0:0 1:2\n").index_base == 0);
  }
  SUBCASE("told") {
    CHECK(row_of(parse("1 1:5\n", {IndexBase::kZero, 0}), 0) == Row{0, 5});
    CHECK(row_of(parse("1 1:5\n", {IndexBase::kOne, 0}), 0) == Row{5});
    CHECK(refusal("1 1:5\n2 0:1 1:4\n", {IndexBase::kOne, 0}) ==
          "f.libsvm:2:3: index 0 in a file read with indices that begin at 1");
  }
}

TEST_CASE("a minimum width for test files") {
  CHECK(column_count(parse("1 1:1 2:2\n", {IndexBase::kAuto, 5})) == 5);
  CHECK(column_count(parse("1 1:1 2:2\n", {IndexBase::kAuto, 1})) == 2);
  const Table no_entries = parse("1\n-1\n", {IndexBase::kAuto, 3});
  CHECK(column_count(no_entries) == 3);
  CHECK(row_of(no_entries, 1) == Row{0, 0, 0});
}

TEST_CASE("labels are any numbers; one number has one name") {
  const Table table = parse("1.0 1:1\n+1 1:1\n1 1:1\n-0 1:1\n0 1:1\n2.5e0 1:1\n10 1:1\n");
  CHECK(table.label_names == Names{"-0", "1.0", "2.5e0", "10"});
  CHECK(table.labels == Numbers{1, 1, 1, 0, 0, 2, 3});
}

TEST_CASE("refused labels") {
  CHECK(refusal("1 1:1\nabc 1:1\n") == "f.libsvm:2:1: expected a label (a number), found \"abc\"");
  CHECK(refusal("nan 1:1\n") == "f.libsvm:1:1: expected a finite label, found \"nan\"");
  CHECK(
      refusal("1,2 1:1\n") ==
      "f.libsvm:1:1: expected a label (a number), found \"1,2\"; rows with several labels are not supported");
  CHECK(refusal("1 1:1\n  1:1 2:1\n") ==
        "f.libsvm:2:3: expected a label (a number), found \"1:1\"; a row begins with its label");
}

TEST_CASE("refused values name file, line, column and token") {
  CHECK(refusal("1 1:1\n1 3:abc\n") == "f.libsvm:2:5: expected a number after \"3:\", found \"abc\"");
  CHECK(refusal("1 3:\n") == "f.libsvm:1:5: expected a number after \"3:\", found none");
  CHECK(refusal("1 3: 5\n") == "f.libsvm:1:5: expected a number after \"3:\", found none");
  CHECK(refusal("1 3:") == "f.libsvm:1:5: expected a number after \"3:\", found none");
  CHECK(refusal("1 3:1.5x 4:1\n") == "f.libsvm:1:5: expected a number after \"3:\", found \"1.5x\"");
  CHECK(refusal("1 3:1:2\n") == "f.libsvm:1:5: expected a number after \"3:\", found \"1:2\"");
  CHECK(refusal("1 3:nan\n") == "f.libsvm:1:5: expected a finite number after \"3:\", found \"nan\"");
  CHECK(refusal("1 3:-inf\n") == "f.libsvm:1:5: expected a finite number after \"3:\", found \"-inf\"");
  CHECK(refusal("1 3:1e99\n") ==
        "f.libsvm:1:5: expected a number between -3.4e38 and 3.4e38 (single precision) after \"3:\", found "
        "\"1e99\"");
  const InputError error = test::refusal([] { (void)parse("1 1:1\n1 3:abc\n"); });
  CHECK(error.file() == "f.libsvm");
  CHECK(error.line() == 2);
  CHECK(error.column() == 5);
  CHECK(error.token() == "abc");
}

TEST_CASE("refused indices") {
  CHECK(refusal("1 1:1 -3:1\n") == "f.libsvm:1:7: negative index in \"-3:1\": indices begin at 0 or 1");
  CHECK(refusal("1 2147483647:1\n") ==
        "f.libsvm:1:3: index too large in \"2147483647:1\": at most 2147483646");
  CHECK(refusal("1 99999999999999999999999:1\n") ==
        "f.libsvm:1:3: index too large in \"99999999999999999999999:1\": at most 2147483646");
  CHECK(refusal("1 abc\n") == "f.libsvm:1:3: expected index:value, found \"abc\"");
  CHECK(refusal("1 3\n") == "f.libsvm:1:3: expected index:value, found \"3\"");
  CHECK(refusal("1 :3\n") == "f.libsvm:1:3: expected index:value, found \":3\"");
  CHECK(refusal("1 1.5:3\n") == "f.libsvm:1:3: expected index:value, found \"1.5:3\"");
  CHECK(refusal(std::string_view("1 1:1 \0 2:1\n", 12)) ==
        "f.libsvm:1:7: expected index:value, found \"\\x00\"");
  const Table widest = parse("1 2147483646:1\n");
  CHECK(column_count(widest) == 2147483646);
  CHECK_FALSE(test::is_dense(widest));
}

TEST_CASE("repeated indices") {
  CHECK(refusal("1 1:1 2:2 2:3\n") == "f.libsvm:1:11: index 2 occurs twice in this row");
  CHECK(refusal("1 2:1 1:2 3:1 2:3 1:7\n") == "f.libsvm:1:19: index 1 occurs twice in this row");
  CHECK(refusal("1 2:0 1:2 2:0\n") == "f.libsvm:1:11: index 2 occurs twice in this row");
}

TEST_CASE("files without rows or features") {
  for (const std::string_view text : {"", "\n\n", "# only a comment\n", "   \r\n"}) {
    CAPTURE(text);
    CHECK(refusal(text).starts_with("f.libsvm: holds no rows"));
  }
  CHECK(refusal("1\n2\n").starts_with("f.libsvm: holds no features"));
}

TEST_CASE("the digest is that of the bytes") {
  // FNV-1a test vectors are published for "" and "foobar"; here a file of the same kind, computed by hand
  // over 4 bytes.
  std::uint64_t expected = 0xcbf29ce484222325u;
  for (const char c : std::string("1 1:1"))
    expected = (expected ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  char text[40];
  std::snprintf(text, sizeof text, "fnv1a64:%016llx", static_cast<unsigned long long>(expected));
  CHECK(parse("1 1:1").digest == text);
  CHECK(parse("1 1:2").digest != text);
}

}  // namespace
}  // namespace adbo::io
