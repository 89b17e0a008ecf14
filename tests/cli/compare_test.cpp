// `adbo compare` and `adbo report` as a user runs them.
#include <doctest/doctest.h>

#include <expat.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "run_command.h"

using adbo::test::contains;
using adbo::test::idx_images;
using adbo::test::idx_labels;
using adbo::test::libsvm_rows;
using adbo::test::line_count;
using adbo::test::operator+;
using adbo::test::Outcome;
using adbo::test::Workspace;
using Json = nlohmann::json;

namespace {

/// A label that would break out of every kind of markup if it were not escaped.
constexpr std::string_view kHostile = "<script>alert(1)</script>&\"'|";

/// Rows that no model tells apart without errors: their coefficients have a finite best value.
std::string noisy_rows() {
  std::mt19937_64 generator(1);
  const auto uniform = [&] { return 4 * static_cast<double>(generator() >> 11) * 0x1p-53 - 2; };
  std::ostringstream text;
  for (int r = 0; r < 200; ++r) {
    std::ostringstream features;
    double score = uniform();
    for (int c = 1; c <= 12; ++c) {
      const double x = uniform();
      if (c <= 5) score += (c % 2 == 1 ? 2.0 : -1.5) / c * x;
      features << ' ' << c << ':' << x;
    }
    text << (score > 0 ? "1" : "-1") << features.str() << '\n';
  }
  return text.str();
}

std::string hostile_csv() {
  std::ostringstream text;
  text << "id,a,b,label\n";
  for (int r = 0; r < 80; ++r) {
    // The label depends on a alone; every ninth is wrong, so that there are suspects.
    const bool hostile = (r % 2 == 0) != (r % 9 == 0);
    text << "\"<i>" << r << "\"," << (r % 2 == 0 ? 1 : -1) + 0.01 * r << ',' << 0.1 * (r % 7) << ',';
    if (hostile) {
      text << "\"<script>alert(1)</script>&\"\"'|\"\n";
    } else {
      text << "good\n";
    }
  }
  return text.str();
}

std::vector<std::string> comparison(const Workspace& files) {
  return {"compare",
          "--problem",
          "clean",
          "--train",
          files.write("train.csv", hostile_csv()),
          "--test",
          files.path("train.csv"),
          "--label-column",
          "label",
          "--id-column",
          "id",
          "--workers",
          "4",
          "--iterations",
          "30",
          "--clock",
          "virtual",
          "--delay",
          "lognormal:3.5,1",
          "--corrupt",
          "0.2",
          "--repeat",
          "2",
          "--out",
          "result"};
}

const Json& row_of(const Json& table, std::string_view method) {
  for (const Json& row : table.at("rows")) {
    if (row.at("method") == method) return row;
  }
  throw std::runtime_error("no row of this method");
}

/// table.csv and runs.csv without the columns of wall and CPU time, which stand last.
std::string without_times(const std::string& csv, std::size_t columns) {
  std::istringstream lines(csv);
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    for (std::size_t k = 0; k < columns; ++k) line.erase(line.rfind(','));
    kept += line + "\n";
  }
  return kept;
}

/// What the XML parser says of a page, or "".
std::string xml_error(const std::string& page) {
  XML_Parser parser = XML_ParserCreate("UTF-8");
  const XML_Status status = XML_Parse(parser, page.data(), static_cast<int>(page.size()), 1);
  std::ostringstream text;
  if (status != XML_STATUS_OK) {
    text << XML_ErrorString(XML_GetErrorCode(parser)) << " in line " << XML_GetCurrentLineNumber(parser);
  }
  XML_ParserFree(parser);
  return text.str();
}

void check_page(const std::string& page) {
  CHECK(xml_error(page) == "");
  CHECK(!contains(page, "<script"));
  CHECK(!contains(page, " src=\"http"));
  CHECK(!contains(page, "href="));
  CHECK(!contains(page, "url(http"));
  CHECK(!contains(page, "@import"));
}

}  // namespace

TEST_CASE("compare: every method and baseline on one split per repeat, same seed same bytes") {
  const Workspace files;
  const std::vector<std::string> arguments =
      comparison(files) + std::vector<std::string>{"--methods", "auto,adbo,exact", "--resolve-every", "10"};
  const Outcome outcome = files.run(arguments);
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  for (const char* const piece : {"plain", "validation-only", "auto", "adbo", "exact", "fnv1a64:", " ± "}) {
    CHECK(contains(outcome.out, piece));
  }
  const Json table = Json::parse(files.read("result/table.json"));
  REQUIRE(table["rows"].size() == 5);
  const Json& reference = row_of(table, "plain");
  CHECK(reference["runs"][0]["digest"] != reference["runs"][1]["digest"]);
  for (const Json& row : table["rows"]) {
    INFO(row["method"]);
    REQUIRE(row["runs"].size() == 2);
    for (std::size_t r = 0; r < 2; ++r) {
      CHECK(row["runs"][r]["digest"] == reference["runs"][r]["digest"]);
      CHECK(row["runs"][r]["seed"] == 1 + r);
    }
    CHECK(row["mean"].contains("test_accuracy_at_consensus"));
  }
  for (const char* const method : {"auto", "adbo", "exact"}) {
    const Json& row = row_of(table, method);
    for (const char* const name :
         {"value_function", "value_function_change", "best_value_function", "test_accuracy_retrained",
          "best_test_accuracy_retrained", "test_accuracy_delivered", "best_test_accuracy_at_consensus",
          "detection_auc", "virtual_seconds", "wall_seconds", "cpu_seconds"}) {
      INFO(name);
      CHECK(row["mean"].contains(name));
      CHECK(row["deviation"].contains(name));
    }
    CHECK(row["mean"]["best_value_function"] <= row["mean"]["value_function"]);
    // A run's values are those of its summary.
    const Json summary = Json::parse(files.read("result/" + std::string(method) + "-1/summary.json"));
    CHECK(row["runs"][0]["values"]["value_function"] == summary["metrics"]["value_function"]);
    CHECK(summary["metrics"]["value_function_start"] == reference["runs"][0]["values"]["value_function"]);
    CHECK(files.exists("result/" + std::string(method) + "-2/trace.csv"));
  }
  CHECK(reference["mean"]["value_function_change"] == 0.0);
  CHECK(line_count(files.read("result/runs.csv")) == 1 + 5 * 2);

  const std::string first = files.read("result/table.csv"), runs = files.read("result/runs.csv");
  REQUIRE(contains(first,
                   "virtual_seconds_deviation,wall_seconds_mean,wall_seconds_deviation,cpu_seconds_mean,"));
  REQUIRE(files.run(arguments + std::vector<std::string>{"--threads", "1"}).code == 0);
  CHECK(without_times(files.read("result/table.csv"), 4) == without_times(first, 4));
  CHECK(without_times(files.read("result/runs.csv"), 2) == without_times(runs, 2));
}

TEST_CASE("compare: a run's numbers are those of the command that runs one method") {
  const Workspace files;
  std::vector<std::string> alone = comparison(files);
  const Outcome together = files.run(alone + std::vector<std::string>{"--methods", "exact,auto"});
  REQUIRE(together.code == 0);
  const std::string compared = files.read("result/auto-1/upper.npy");
  const std::string suspects = files.read("result/auto-1/suspects.csv");
  alone[0] = "clean";
  alone.erase(alone.begin() + 1, alone.begin() + 3);  // --problem clean
  alone.erase(std::find(alone.begin(), alone.end(), "--repeat"),
              std::find(alone.begin(), alone.end(), "--out"));
  const Outcome single = files.run(alone);
  INFO(single.err);
  REQUIRE(single.code == 0);
  CHECK(files.read("result/upper.npy") == compared);
  CHECK(files.read("result/suspects.csv") == suspects);
}

TEST_CASE("compare: a method that diverges or is refused is a row, the others go on") {
  const Workspace files;
  const Outcome outcome =
      files.run(comparison(files) + std::vector<std::string>{"--methods", "adbo,sdbo,auto", "--holdout", "0",
                                                             "--set", "adbo.step_lower_local=1e200"});
  INFO(outcome.err, outcome.out);
  REQUIRE(outcome.code == 0);
  const Json table = Json::parse(files.read("result/table.json"));
  const Json& row = row_of(table, "adbo");
  CHECK(row["status"] == "diverged");
  CHECK(!row["runs"][0]["message"].get<std::string>().empty());
  CHECK(row["mean"].empty());
  CHECK(contains(files.read("result/table.md"), "Not in the means"));
  CHECK(row_of(table, "auto")["status"] == "iteration_limit");
  CHECK(row_of(table, "sdbo")["mean"].contains("value_function"));
}

TEST_CASE("compare: where no run has a result the exit code says so, from resume too") {
  const Workspace files;
  const Outcome outcome =
      files.run(comparison(files) + std::vector<std::string>{"--methods", "adbo", "--holdout", "0", "--set",
                                                             "step_lower_local=1e200"});
  INFO(outcome.err, outcome.out);
  CHECK(outcome.code == 4);
  CHECK(files.run({"resume", "result"}).code == 4);
  const std::string table = files.read("result/table.json");
  for (const char* const damaged : {"", "{", "{}"}) {
    files.write("result/table.json", damaged);
    CHECK(files.run({"resume", "result"}).code == 4);
    CHECK(files.read("result/table.json") == table);
    const Outcome shown = files.run({"resume", "result", "--json"});
    CHECK(shown.code == 4);
    CHECK(shown.out == table);
  }
}

TEST_CASE("compare: a method that cannot run as asked is a row") {
  const Workspace files;
  const Outcome outcome =
      files.run(comparison(files) + std::vector<std::string>{"--methods", "auto,exact", "--active", "9"});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  const Json table = Json::parse(files.read("result/table.json"));
  CHECK(row_of(table, "auto")["status"] == "refused");
  CHECK(contains(row_of(table, "auto")["runs"][0]["message"].get<std::string>(), "active_workers = 9"));
  CHECK(row_of(table, "exact")["mean"].contains("value_function"));
}

TEST_CASE("compare: tune, with plain training as a row") {
  const Workspace files;
  const Outcome outcome = files.run({"compare",
                                     "--problem",
                                     "tune",
                                     "--methods",
                                     "exact,auto",
                                     "--repeat",
                                     "1",
                                     "--train",
                                     files.write("train.libsvm", libsvm_rows(60, 4, 1)),
                                     "--test",
                                     files.write("test.libsvm", libsvm_rows(30, 4, 2)),
                                     "--workers",
                                     "3",
                                     "--iterations",
                                     "30",
                                     "--clock",
                                     "virtual",
                                     "--delay",
                                     "lognormal:3.5,1",
                                     "--json",
                                     "--out",
                                     "result"});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  const Json table = Json::parse(outcome.out);
  REQUIRE(table["rows"].size() == 3);
  CHECK(table["rows"][0]["method"] == "plain");
  CHECK(row_of(table, "exact")["mean"]["value_function"] < table["rows"][0]["mean"]["value_function"]);
  CHECK(row_of(table, "exact")["deviation"].empty());
}

TEST_CASE("compare: repeats that have one split and start are said to") {
  const Workspace files;
  for (const std::string split : {"shard-tail", "random"}) {
    const Outcome outcome =
        files.run({"compare", "--problem", "tune", "--methods", "auto", "--repeat", "2", "--split", split,
                   "--train", files.write("train.libsvm", libsvm_rows(60, 4, 1)), "--workers", "3",
                   "--iterations", "5", "--clock", "virtual", "--out", split});
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK(contains(outcome.out, "All repeats have the same split") == (split == "shard-tail"));
  }
}

TEST_CASE("compare: options without effect, unknown and doubled methods are refused") {
  const Workspace files;
  const auto refused = [&](const std::vector<std::string>& more,
                           std::initializer_list<std::string_view> pieces) {
    const Outcome outcome = files.run(comparison(files) + more);
    INFO(outcome.err);
    CHECK(outcome.code == 2);
    for (const std::string_view piece : pieces) CHECK(contains(outcome.err, piece));
    CHECK(!files.exists("result"));
  };
  refused({}, {"--methods"});
  refused({"--methods", "adbo,exakt"}, {"exakt", "did you mean \"exact\""});
  refused({"--methods", "auto,exact", "--search", "-1"}, {"search", "an integer >= 0"});
  refused({"--methods", "adbo,adbo"}, {"adbo is given twice"});
  refused({"--methods", "auto,async-hypergradient"}, {"auto and async-hypergradient are the same method"});
  refused({"--methods", "auto,exact", "--cuts", "implicit"}, {"cuts has no effect", "auto, exact"});
  refused({"--methods", "auto,exact", "--method", "adbo"}, {"--methods"});
  refused({"--methods", "auto,exact", "--set", "exact.upper_rate=1"}, {"upper_rate has no effect on exact"});
  refused({"--methods", "auto,exact", "--set", "adbo.cuts=implicit"}, {"adbo is not one of the methods"});
  refused({"--methods", "auto,exact", "--set", "exact.delay=none"}, {"delay is the same for all methods"});
  refused({"--methods", "auto,exact", "--set", "exact.corrupt=0.1"}, {"corrupt is the same for all methods"});
  refused({"--methods", "auto,exact", "--set", "exact.hypergradient_tol=1"}, {"hypergradient_tol"});
  refused({"--methods", "adbo,exact", "--steps", "theorem2", "--step-upper-local", "1"},
          {"adbo: step_upper_local has no effect"});
  refused({"--methods", "auto,exact", "--require-converged"}, {"require_converged"});
  // A limit that no method compared can keep.
  refused({"--methods", "auto,adbo", "--active", "9"}, {"active_workers = 9", "4 workers"});
}

TEST_CASE("compare: an option for one method wins over the plain one") {
  const Workspace files;
  const Outcome outcome = files.run(
      comparison(files) + std::vector<std::string>{"--methods", "auto,exact", "--active", "2", "--set",
                                                   "auto.max_staleness=7", "--max-staleness", "9", "--set",
                                                   "exact.iterations=3"});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  const Json table = Json::parse(files.read("result/table.json"));
  CHECK(row_of(table, "auto")["config"]["max_staleness"]["value"] == 7);
  CHECK(row_of(table, "auto")["config"]["active_workers"]["value"] == 2);
  CHECK(row_of(table, "auto")["config"]["iterations"]["value"] == 30);
  CHECK(row_of(table, "exact")["config"]["iterations"]["value"] == 3);
}

TEST_CASE(
    "compare --search: every method tries as many steps, the smallest value function that stands chooses") {
  const Workspace files;
  const std::vector<std::string> arguments =
      comparison(files) + std::vector<std::string>{"--methods", "soba,auto,aid-cg,adbo",      "--search", "5",
                                                   "--set",     "adbo.step_lower_local=1e200"};
  const Outcome outcome = files.run(arguments);
  INFO(outcome.err, outcome.out);
  REQUIRE(outcome.code == 0);
  const Json table = Json::parse(files.read("result/table.json"));
  const std::string digest = row_of(table, "soba")["search"]["digest"];
  for (const Json& run : row_of(table, "plain")["runs"]) CHECK(run["digest"] != digest);
  CHECK(row_of(table, "soba")["search"]["seed"] == 3);  // the seeds of the repeats are 1 and 2
  for (const char* const method : {"soba", "aid-cg"}) {
    INFO(method);
    const Json& row = row_of(table, method);
    const Json& search = row["search"];
    CHECK(search["digest"] == digest);
    REQUIRE(search["candidates"].size() == 4);
    REQUIRE(search["trials"].size() == 1);  // five runs
    const Json& trial = search["trials"][0];
    REQUIRE(trial["stands"] == true);
    CHECK(trial["candidate"] == search["chosen"]);
    CHECK(trial["folder"] == "search/" + std::string(method) + "-" +
                                 std::to_string(search["chosen"].get<int>() + 1) + "-doubled");
    CHECK(search["candidates"][0]["steps"].empty());  // as given
    double best = search["value_function"];
    for (const Json& candidate : search["candidates"]) {
      if (candidate.contains("value_function")) CHECK(candidate["value_function"] >= best);
    }
    const std::size_t chosen = search["chosen"];
    CHECK(search["candidates"][chosen]["value_function"] == best);
    REQUIRE(chosen > 0);  // the default step hardly moves anything
    CHECK(trial["steps"]["step_upper"].get<double>() ==
          doctest::Approx(2 * search["candidates"][chosen]["steps"]["step_upper"].get<double>()));
    const Json tried =
        Json::parse(files.read("result/" + trial["folder"].get<std::string>() + "/summary.json"));
    CHECK(tried["seed"] == 4);  // of no repeat and of no candidate
    CHECK(contains(outcome.out, "; stands twice its steps)"));
    CHECK(row["config"]["step_upper"]["value"] == search["candidates"][chosen]["steps"]["step_upper"]);
    CHECK(row["config"]["step_upper"]["from"] == "search");
    const std::string folder = search["candidates"][chosen]["folder"];
    const Json summary = Json::parse(files.read("result/" + folder + "/summary.json"));
    CHECK(summary["metrics"]["value_function"] == best);
    CHECK(contains(outcome.out, "step\\_upper = "));
  }
  CHECK(row_of(table, "auto")["search"]["candidates"].empty());
  CHECK(contains(outcome.out, "steps of auto: no steps to search"));
  // Every candidate of this one diverges: that is no reason to end.
  const Json& diverged = row_of(table, "adbo")["search"];
  CHECK(diverged["candidates"].size() == 4);
  CHECK(diverged["trials"].empty());
  CHECK(diverged["candidates"][3]["status"] == "diverged");
  CHECK(!diverged.contains("chosen"));
  CHECK(contains(outcome.out, "steps of adbo: as given: none of 4 candidates has a result"));

  REQUIRE(files.run({"report", "result"}).code == 0);
  const std::string page = files.read("result/report.html");
  check_page(page);
  CHECK(contains(page, "steps of soba: step_upper = "));

  // The repeats are those of a comparison with the chosen step, and the same for any number of threads.
  const std::string upper = files.read("result/soba-2/upper.npy"), runs = files.read("result/runs.csv");
  const double step = row_of(table, "soba")["config"]["step_upper"]["value"];
  REQUIRE(files.run(arguments + std::vector<std::string>{"--threads", "1"}).code == 0);
  CHECK(without_times(files.read("result/runs.csv"), 2) == without_times(runs, 2));
  std::ostringstream given;
  given.precision(17);
  given << "soba.step_upper=" << step;
  REQUIRE(files.run(comparison(files) + std::vector<std::string>{"--methods", "soba", "--set", given.str()})
              .code == 0);
  CHECK(files.read("result/soba-2/upper.npy") == upper);
  CHECK(!contains(files.read("result/table.md"), "steps of"));
}

TEST_CASE("compare --search: the winner is not taken where its double diverges on another split") {
  const Workspace files;
  const Outcome outcome = files.run({"compare",
                                     "--problem",
                                     "tune",
                                     "--methods",
                                     "aid-cg",
                                     "--search",
                                     "4",
                                     "--set",
                                     "aid-cg.step_upper=8",
                                     "--train",
                                     files.write("train.libsvm", noisy_rows()),
                                     "--workers",
                                     "4",
                                     "--iterations",
                                     "200",
                                     "--repeat",
                                     "1",
                                     "--clock",
                                     "virtual",
                                     "--out",
                                     "result"});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  const Json table = Json::parse(files.read("result/table.json"));
  const Json& search = row_of(table, "aid-cg")["search"];
  INFO(search.dump(1));
  REQUIRE(search["candidates"].size() == 3);
  REQUIRE(search["trials"].size() == 1);
  const Json& trial = search["trials"][0];
  CHECK(trial["candidate"] == 0);  // the best
  CHECK(trial["steps"]["step_upper"] == 16);
  CHECK(trial["status"] == "diverged");
  CHECK(trial["stands"] == false);
  REQUIRE(search["chosen"] == 2);
  CHECK(search["candidates"][2]["value_function"] > search["candidates"][0]["value_function"]);
  CHECK(row_of(table, "aid-cg")["config"]["step_upper"]["value"] < 8);
  CHECK(contains(outcome.out, "; not tried with twice its steps)"));
}

TEST_CASE("report: of a comparison, hostile words stay words") {
  const Workspace files;
  REQUIRE(files.run(comparison(files) + std::vector<std::string>{"--methods", "auto,exact"}).code == 0);
  const Outcome outcome = files.run({"report", "result"});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  const std::string page = files.read("result/report.html");
  check_page(page);
  CHECK(contains(page, "<svg"));
  CHECK(contains(page, "aria-labelledby"));
  CHECK(contains(page, "Test accuracy at consensus against virtual seconds"));
  CHECK(contains(page, "&lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;&#39;|"));
  CHECK(contains(page, "&lt;i&gt;"));  // the id of a suspect
  CHECK(!contains(page, kHostile));
  CHECK(contains(page, "prefers-color-scheme:dark"));
}

TEST_CASE("report: of a run, with pictures") {
  const Workspace files;
  REQUIRE(
      files
          .run({"clean", "--train", files.write("train.idx", idx_images(240, 1)), "--train-labels",
                files.write("train-labels.idx", idx_labels(240)), "--workers", "4", "--iterations", "40",
                "--clock", "virtual", "--delay", "lognormal:3.5,1", "--corrupt", "0.2", "--out", "result"})
          .code == 0);
  const Json gallery = Json::parse(files.read("result/gallery.json"));
  REQUIRE(!gallery["rows"].empty());
  CHECK(gallery["rows"].size() <= 48);
  CHECK(gallery["rows"][0]["score"] <= gallery["rows"].back()["score"]);
  REQUIRE(files.run({"report", "result"}).code == 0);
  const std::string page = files.read("result/report.html");
  check_page(page);
  CHECK(contains(page, "src=\"data:image/png;base64,iVBORw0KGgo"));
  CHECK(contains(page, "alt=\"row "));
}

TEST_CASE("report: of a baseline's folder, and what is not there is said") {
  const Workspace files;
  REQUIRE(files.run(comparison(files) + std::vector<std::string>{"--methods", "auto , exact"}).code == 0);
  REQUIRE(files.run({"report", "result/plain-1"}).code == 0);
  check_page(files.read("result/plain-1/report.html"));
  CHECK(contains(files.read("result/plain-1/report.html"), "clean, plain: baseline"));
  std::filesystem::remove(files.path("result/exact-2/trace.csv"));
  std::filesystem::remove(files.path("result/auto-1/gallery.json"));
  REQUIRE(files.run({"report", "result"}).code == 0);
  const std::string page = files.read("result/report.html");
  check_page(page);
  CHECK(contains(page, "Not on this page"));
  CHECK(contains(page, "Curves of exact: result/exact-2/trace.csv is not there"));
  CHECK(contains(page, "Suspect rows of auto: result/auto-1/gallery.json is not there"));
  REQUIRE(files.run({"report", "result/auto-2"}).code == 0);
  CHECK(!contains(files.read("result/auto-2/report.html"), "Not on this page"));

  // Suspects of the baseline and three methods are shown; where the others' are is said.
  const std::vector<std::string> many{"--methods", "auto,exact,soba,saba,amigo"};
  REQUIRE(files.run(comparison(files) + many).code == 0);
  REQUIRE(files.run({"report", "result"}).code == 0);
  const std::string crowded = files.read("result/report.html");
  check_page(crowded);
  for (const std::string method : {"saba", "amigo"})
    CHECK(contains(crowded, "Suspect rows of " + method + ": the page has those of the first 4 rows"));
  CHECK(!contains(crowded, "Suspect rows of soba"));
}

TEST_CASE("compare: why there is no value function stands beside the table") {
  const Workspace files;
  const Outcome outcome = files.run({"compare",
                                     "--problem",
                                     "tune",
                                     "--methods",
                                     "auto",
                                     "--repeat",
                                     "1",
                                     "--train",
                                     files.write("train.libsvm", libsvm_rows(40, 8, 1)),
                                     "--workers",
                                     "2",
                                     "--iterations",
                                     "5",
                                     "--parametrization",
                                     "linear",
                                     "--start",
                                     "code-tune",
                                     "--clock",
                                     "virtual",
                                     "--out",
                                     "result"});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  CHECK(contains(outcome.out, "No F:"));
  CHECK(contains(outcome.out, "- auto, repeat 1: The lower level is unbounded at the end"));
  CHECK(contains(outcome.out, "- plain, repeat 1: The lower level is unbounded at the end"));
  const Json table = Json::parse(files.read("result/table.json"));
  CHECK(contains(row_of(table, "auto")["runs"][0]["note"].get<std::string>(), "unbounded"));
  REQUIRE(files.run({"report", "result"}).code == 0);
  CHECK(contains(files.read("result/report.html"), "<li>auto, repeat 1: The lower level is unbounded"));
}

TEST_CASE("labels that are no UTF-8: the bytes in CSV, valid JSON and pages everywhere") {
  const Workspace files;
  std::string rows;
  for (int r = 0; r < 80; ++r) {
    rows += std::to_string((r % 2 == 0 ? 1 : -1) + 0.01 * r) + "," + std::to_string(0.1 * (r % 7)) + "," +
            ((r % 2 == 0) != (r % 9 == 0) ? "caf\xE9" : "caf\xE8") + "\n";
  }
  REQUIRE(files
              .run({"clean", "--train", files.write("train.csv", rows), "--workers", "4", "--iterations",
                    "30", "--clock", "virtual", "--out", "result"})
              .code == 0);
  CHECK(contains(files.read("result/suspects.csv"), ",caf\xE9,"));
  for (const char* const name : {"result/summary.json", "result/gallery.json"}) {
    CAPTURE(name);
    CHECK(Json::accept(files.read(name)));
    CHECK(contains(files.read(name), "caf\\\\xE9"));
    CHECK(contains(files.read(name), "caf\\\\xE8"));
  }
  REQUIRE(files.run({"report", "result"}).code == 0);
  check_page(files.read("result/report.html"));
}

TEST_CASE("report: times that are all equal are said, the other curves are there") {
  const Workspace files;
  REQUIRE(files
              .run({"tune", "--train", files.write("train.libsvm", libsvm_rows(80, 4, 1)), "--workers", "4",
                    "--iterations", "20", "--clock", "virtual", "--out", "result"})
              .code == 0);
  REQUIRE(files.run({"report", "result"}).code == 0);
  const std::string page = files.read("result/report.html");
  check_page(page);
  CHECK(contains(page, "No curves against virtual seconds: all are equal."));
  CHECK(!contains(page, "objective against virtual seconds"));
  CHECK(contains(page, "objective against iterations"));
}

TEST_CASE("report: folders that hold nothing of the kind, files that are damaged") {
  const Workspace files;
  Outcome outcome = files.run({"report", "nowhere"});
  CHECK(outcome.code == 2);
  CHECK(contains(outcome.err, "nowhere"));
  CHECK(files.run({"report"}).code == 2);
  std::filesystem::create_directories(files.path("result"));
  files.write("result/summary.json", "{\"method\": 3}");
  outcome = files.run({"report", "result"});
  CHECK(outcome.code == 3);
  CHECK(contains(outcome.err, "result/summary.json: \"problem\" is missing"));
  CHECK(!files.exists("result/report.html"));
  files.write("result/summary.json", "{}");
  outcome = files.run({"report", "result"});
  CHECK(outcome.code == 3);
  CHECK(contains(outcome.err, "result/summary.json: \"problem\" is missing: not as adbo writes it"));
  files.write("result/summary.json", "[");
  CHECK(files.run({"report", "result"}).code == 3);
  files.write("result/table.json",
              R"({"problem": "clean", "rows": [{"method": "x", "runs": [{"folder": "../../etc"}]}]})");
  CHECK(files.run({"report", "result"}).code == 3);
}
