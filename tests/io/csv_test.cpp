#include "io/csv.h"

#include <algorithm>
#include <string>

#include "io_support.h"

namespace adbo::io {
namespace {

using test::Names;
using test::Numbers;
using test::Row;
using test::row_of;

Table parse(std::string_view text, const CsvOptions& options = {}) {
  return parse_csv(text, "f.csv", options);
}
std::string refusal(std::string_view text, const CsvOptions& options = {}) {
  return test::message_of([&] { (void)parse(text, options); });
}
bool noted(const Table& table, const std::string& note) {
  return std::find(table.notes.begin(), table.notes.end(), note) != table.notes.end();
}

TEST_CASE("numbers and a label in the last column") {
  const Table table = parse("1,2.5,a\n-3,4e1,b\n0,0,a\n");
  CHECK(table.format == "csv");
  CHECK(table.label_names == Names{"a", "b"});
  CHECK(table.labels == Numbers{0, 1, 0});
  REQUIRE(test::is_dense(table));
  CHECK(column_count(table) == 2);
  CHECK(row_of(table, 1) == Row{-3, 40});
  CHECK(table.feature_names.empty());
  CHECK(table.ids.empty());
  CHECK(noted(table, "fields are separated by commas"));
}

TEST_CASE("every separator") {
  for (const std::string_view text :
       {"1,2,3\n4,5,6\n", "1;2;3\n4;5;6\n", "1\t2\t3\n4\t5\t6\n", "1 2 3\n4 5 6\n", "  1   2 3  \n4 5\t6 \n",
        "1, 2, 3\n4, 5, 6\n", "1 ;2; 3\n4;5;6 \n"}) {
    CAPTURE(text);
    const Table table = parse(text);
    REQUIRE(row_count(table) == 2);
    CHECK(row_of(table, 0) == Row{1, 2});
    CHECK(row_of(table, 1) == Row{4, 5});
    CHECK(table.label_names == Names{"3", "6"});
  }
}

TEST_CASE("line ends, blank lines, byte-order mark") {
  for (const std::string_view text :
       {"1,2,3\r\n4,5,6\r\n", "1,2,3\n4,5,6", "\n\n1,2,3\n\n4,5,6\n  \n", "1,2,3\r4,5,6\r",
        "\xEF\xBB\xBF"
        "1,2,3\n4,5,6\n"}) {
    CAPTURE(text);
    const Table table = parse(text);
    REQUIRE(row_count(table) == 2);
    CHECK(row_of(table, 0) == Row{1, 2});
    CHECK(row_of(table, 1) == Row{4, 5});
  }
}

TEST_CASE("quotes") {
  const Table table = parse(
      "\"name, first\",x,\"la\"\"bel\"\n\"1\",\"2\",\"a,b\"\n3,4,\"c\nd\"\n5,6, \"e\" \n7,8,say \"f\"\n");
  CHECK(table.feature_names == Names{"name, first", "x"});
  CHECK(table.label_names == Names{"a,b", "c\nd", "e", "say \"f\""});
  CHECK(row_of(table, 0) == Row{1, 2});
  CHECK(refusal("1,2\n3,\"4\n5,6\n") == "f.csv:2:3: this quote is never closed");
  CHECK(refusal("1,2,3\n\"4\"5,6,7\n") ==
        "f.csv:2:4: expected a separator after the closing quote, found \"5\"");
}

TEST_CASE("a header is recognised") {
  const Table table = parse("age,height,kind\n1,2,a\n3,4,b\n");
  CHECK(row_count(table) == 2);
  CHECK(table.feature_names == Names{"age", "height"});
  CHECK(noted(table, "the first line is taken as the header"));
  SUBCASE("words in both lines are no header") {
    CHECK(row_count(parse("1,2,a\n3,4,b\n")) == 2);
    CHECK(row_count(parse("r1,2,a\nr2,4,b\n", {"", "1", HeaderMode::kAuto})) == 2);
  }
  SUBCASE("an unnamed first column, as data frames are saved") {
    const Table frame = parse(",x,y\n0,1,a\n1,2,b\n", {"y", "1", HeaderMode::kAuto});
    CHECK(frame.ids == Names{"0", "1"});
    CHECK(frame.feature_names == Names{"x"});
  }
  SUBCASE("a damaged first row is no header") {
    CHECK(refusal("1,x2,3\n4,5,6\n") ==
          "f.csv:1:3: is the first line a header? \"x2\" is no number but \"5\" below it is, and other "
          "fields of the line "
          "are numbers: say whether there is a header, or mend the field");
    CHECK(row_count(parse("1,x2,3\n4,5,6\n", {"", "", HeaderMode::kPresent})) == 1);
    CHECK(refusal("1,x2,3\n4,5,6\n", {"", "", HeaderMode::kAbsent}) ==
          "f.csv:1:3: expected a number in field 2, found \"x2\"");
  }
  SUBCASE("told") {
    CHECK(parse("1990,1991,kind\n1,2,a\n", {"", "", HeaderMode::kPresent}).feature_names ==
          Names{"1990", "1991"});
    CHECK(refusal("a,b,c\n", {"", "", HeaderMode::kPresent}) == "f.csv: holds a header but no rows");
  }
  SUBCASE("alone") {
    CHECK(refusal("a,b,c\n") == "f.csv: holds a header but no rows");
    CHECK(refusal("\n\na;\"b\"") == "f.csv: holds a header but no rows");
    CHECK(refusal("1,b,c\n") == "f.csv:1:3: expected a number in field 2, found \"b\"");
    CHECK(refusal("a,,c\n") == "f.csv:1:1: expected a number in field 1, found \"a\"");
    CHECK(row_count(parse("1,2,c\n")) == 1);
  }
}

TEST_CASE("label and id columns by name and position") {
  const std::string text = "id,y,a,b\nr1,yes,1,2\nr2,no,3,4\n";
  for (const auto& names : {std::pair("y", "id"), std::pair("2", "1"), std::pair("-3", "-4")}) {
    CAPTURE(names.first);
    const Table table = parse(text, {names.first, names.second, HeaderMode::kAuto});
    CHECK(table.label_names == Names{"no", "yes"});
    CHECK(table.labels == Numbers{1, 0});
    CHECK(table.ids == Names{"r1", "r2"});
    CHECK(table.feature_names == Names{"a", "b"});
    CHECK(row_of(table, 1) == Row{3, 4});
  }
  CHECK(parse("1,2\n3,4\n", {"none", "", HeaderMode::kAuto}).labels.empty());
  CHECK(column_count(parse("1,2\n3,4\n", {"none", "", HeaderMode::kAuto})) == 2);
  CHECK(refusal(text, {"class", "", HeaderMode::kAuto}) ==
        "f.csv: label column \"class\": no such name in the header, which has \"id\", \"y\", \"a\", \"b\"");
  CHECK(refusal("1,2\n3,4\n", {"y", "", HeaderMode::kAuto}) ==
        "f.csv: label column \"y\": the file has no header, so a position is expected (1 is the first field, "
        "-1 the "
        "last)");
  for (const char* position : {"0", "5", "-5", "99999999"}) {
    CHECK(refusal(text, {position, "", HeaderMode::kAuto}) ==
          "f.csv: label column " + std::string(position) + ": expected 1 to 4 or -1 (the last) to -4");
  }
  CHECK(refusal(text, {"y", "2", HeaderMode::kAuto}) ==
        "f.csv: field 2 (\"y\") is both the label column and the id column");
  CHECK(refusal("y,y\n1,2\n", {"y", "", HeaderMode::kAuto}) ==
        "f.csv: label column \"y\": 2 fields of the header have this name");
  CHECK(noted(parse("1,2,a\n1,3,b\n", {"", "1", HeaderMode::kAuto}),
              "ids are not unique: \"1\" occurs more than once"));
}

TEST_CASE("classes are ordered by value when all are numbers, else as text") {
  CHECK(parse("0,10\n0,9\n0,-1\n").label_names == Names{"-1", "9", "10"});
  CHECK(parse("0,10\n0,9\n0,x\n").label_names == Names{"10", "9", "x"});
}

TEST_CASE("missing cells") {
  CHECK(refusal("a,b,y\n1,,x\n") == "f.csv:2:3: missing value in field 2 (\"b\")");
  CHECK(refusal("1,2,x\n1,NA,x\n") == "f.csv:2:3: missing value in field 2: found \"NA\"");
  CHECK(refusal("1,2,x\n1,nan,x\n") == "f.csv:2:3: missing value in field 2: found \"nan\"");
  CHECK(refusal("1,2,x\n1,2,\n") == "f.csv:2:5: missing label in field 3");
  CHECK(refusal("1,2,3\n1,2,?\n") == "f.csv:2:5: missing label in field 3: found \"?\"");
  CHECK(refusal("1,2,x\n,2,x\n", {"", "1", HeaderMode::kAuto}) == "f.csv:2:1: missing id in field 1");
  CHECK(refusal("1\t2\tx\n\t\t\n") == "f.csv:2:1: missing value in field 1");
}

TEST_CASE("ragged rows name both counts") {
  CHECK(refusal("1,2,3\n4,5,6\n7,8\n") ==
        "f.csv:3:4: expected 3 fields separated by commas as in line 1, found 2");
  CHECK(refusal("\na b c\n1 2 3\n4 5 6 7\n") ==
        "f.csv:4:7: expected 3 fields separated by blanks as in line 2, found 4");
}

TEST_CASE("refused numbers") {
  CHECK(refusal("a,b,y\n1,2,x\n1,abc,x\n") ==
        "f.csv:3:3: expected a number in field 2 (\"b\"), found \"abc\"");
  CHECK(refusal("1;2;3\n1,5;2;3\n") ==
        "f.csv:2:1: expected a number in field 1, found \"1,5\"; write a decimal point, not a comma");
  CHECK(refusal("a;b;y\n1,5;2,5;x\n1,5;2,5;x\n") ==
        "f.csv:2:1: expected a number in field 1 (\"a\"), found \"1,5\"; write a decimal point, not a comma");
  CHECK(refusal("1,5;2,5;3\n1,5;2,5;3\n") ==
        "f.csv:1:1: expected a number in field 1, found \"1,5\"; write a decimal point, not a comma");
  CHECK(refusal("1,2\n-inf,2\n") == "f.csv:2:1: expected a finite number in field 1, found \"-inf\"");
  CHECK(refusal("1,2\n1e39,2\n") ==
        "f.csv:2:1: expected a number between -3.4e38 and 3.4e38 (single precision) in field 1, found "
        "\"1e39\"");
  CHECK(refusal(std::string_view("1,2\n1\0,2\n", 9)) ==
        "f.csv:2:1: expected a number in field 1, found \"1\\x00\"");
}

TEST_CASE("files without rows or features") {
  CHECK(refusal("\n \n") == "f.csv: holds no rows: every line is empty");
  CHECK(refusal("") == "f.csv: holds no rows: every line is empty");
  CHECK(refusal("1\n2\n") ==
        "f.csv:1:1: expected features besides the label, found 1 field(s) separated by blanks");
  CHECK(refusal("1,2\n3,4\n", {"1", "2", HeaderMode::kAuto})
            .starts_with("f.csv:1:1: expected features besides the label and the id"));
}

}  // namespace
}  // namespace adbo::io
