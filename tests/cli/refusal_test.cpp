// Every bad input: the exit code, a message that is enough to mend it, and no output folder left behind.
#include <doctest/doctest.h>

#include <sys/mount.h>

#include <algorithm>
#include <tuple>

#include "run_command.h"

using adbo::test::contains;
using adbo::test::idx_images;
using adbo::test::idx_labels;
using adbo::test::libsvm_rows;
using adbo::test::operator+;
using adbo::test::Outcome;
using adbo::test::Workspace;

namespace {

constexpr int kUsage = 2, kInputData = 3;

void check_refused(const Workspace& files, std::vector<std::string> arguments, int code,
                   std::initializer_list<std::string_view> pieces) {
  arguments.insert(arguments.end(), {"--out", "result"});
  const Outcome outcome = files.run(arguments);
  INFO("stderr: ", outcome.err);
  CHECK(outcome.code == code);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.starts_with("adbo: error: "));
  for (const std::string_view piece : pieces) {
    INFO("piece: ", std::string(piece));
    CHECK(outcome.err.find(piece) != std::string::npos);
  }
  CHECK(!files.exists("result"));
}

/// Twelve good rows.
std::string good_file(const Workspace& files) { return files.write("train.libsvm", libsvm_rows(12, 3, 1)); }

}  // namespace

TEST_CASE("refused: numbers that do not fit together, both named") {
  const Workspace files;
  const std::string train = good_file(files);
  check_refused(files, {"clean", "--train", train, "--workers", "4", "--active", "5"}, kUsage,
                {"active_workers = 5", "4 workers"});
  check_refused(files, {"clean", "--train", train, "--workers", "13"}, kUsage,
                {"workers = 13", "12 training rows"});
  check_refused(files, {"clean", "--train", train, "--workers", "12"}, kUsage,
                {"1 rows of worker 0", "0 rows to train and 1 to validate"});
  check_refused(files,
                {"clean", "--train", train, "--workers", "4", "--validation",
                 files.write("validation.libsvm", libsvm_rows(3, 3, 2))},
                kUsage, {"workers = 4", "3 validation rows"});
  check_refused(files, {"tune", "--train", train, "--test", train, "--pool-rows", "24"}, kUsage,
                {"pool_rows = 24", "24 rows"});
  check_refused(
      files,
      {"clean", "--train", train, "--workers", "2", "--delay", "lognormal:3.5,1", "--stragglers", "3:4"},
      kUsage, {"stragglers", "3:4", "2 workers"});
  check_refused(files, {"clean", "--train", train, "--workers", "4", "--method", "sdbo", "--active", "3"},
                kUsage, {"sdbo", "active_workers = 3", "4 workers"});
}

TEST_CASE("refused: an option twice, an option or an argument that is missing") {
  const Workspace files;
  const std::string train = good_file(files);
  check_refused(files, {"clean", "--train", train, "--train", train}, kUsage,
                {"--train is given more than once"});
  check_refused(files, {"clean", "--seed", "1", "--train", train, "--seed", "2"}, kUsage,
                {"--seed is given more than once"});
  check_refused(files, {"compare", "--methods", "adbo,sdbo", "--train", train}, kUsage, {"--problem clean"});
  for (const std::string command : {"resume", "report", "run"}) {
    const Outcome outcome = files.run({command});
    CHECK(outcome.code == kUsage);
    CHECK(contains(outcome.err, "adbo: error: " + command + ": the "));
    CHECK(contains(outcome.err, "as in adbo " + command));
  }
  const Outcome outcome = files.run({"clean", "--seed"});
  CHECK(outcome.code == kUsage);
  CHECK(contains(outcome.err, "--seed needs a value"));
  CHECK(contains(files.run({"clean", "--help"}).out, "Usage: adbo clean"));
}

TEST_CASE("a test file of another format than the training file's") {
  const Workspace files;
  const std::string test = files.write("test.csv", "a,b,c,y\n0.1,0.2,0.3,1\n0.3,0.2,0.1,-1\n0.5,0.2,0.1,1\n");
  const Outcome outcome = files.run({"clean", "--train", good_file(files), "--test", test, "--index-base",
                                     "1", "--workers", "2", "--iterations", "3", "--out", "mixed"});
  INFO(outcome.err);
  CHECK(outcome.code == 0);
}

TEST_CASE("refused: values out of range and misspelt names") {
  const Workspace files;
  const std::string train = good_file(files);
  check_refused(files, {"clean", "--train", train, "--max-staleness", "-1"}, kUsage,
                {"max_staleness", "\"-1\"", ">= 0"});
  check_refused(files, {"clean", "--train", train, "--tau", "-3"}, kUsage,
                {"max_staleness", "\"-3\"", ">= 0"});
  check_refused(files, {"clean", "--train", train, "--max-stalness", "3"}, kUsage,
                {"--max-stalness", "did you mean \"--max-staleness\"?"});
  check_refused(files, {"clean", "--train", train, "--set", "max_stalness=3"}, kUsage,
                {"max_stalness", "did you mean \"max_staleness\"?"});
  check_refused(files, {"clean", "--train", train, "--preset", "paper/mnits"}, kUsage,
                {"paper/mnits", "did you mean \"paper/mnist\"?"});
  check_refused(files, {"tune", "--train", train, "--preset", "paper/mnist"}, kUsage,
                {"paper/mnist", "is for clean"});
  check_refused(files, {"clean", "--train", train, "--method", "sbdo"}, kUsage,
                {"method", "sbdo", "auto, adbo, sdbo"});
  check_refused(files, {"clean", "--train", train, "--ridge", "a"}, kUsage, {"ridge", "\"a\"", ">= 0"});
  check_refused(files, {"clean", "--train", train, "--iterations", "9223372036854775808"}, kUsage,
                {"iterations = \"9223372036854775808\"", ">= 0 that a number of 64 bits can be"});
  check_refused(files, {"clean", "--train", train, "--workers", "99999999999999999999"}, kUsage,
                {"workers", "that a number of 64 bits can be"});
  for (const std::string flag : {"--set", "--config", "--preset"}) {
    check_refused(files, {"resume", "out", flag, "iterations=9"}, kUsage,
                  {flag + " has no effect", "goes on with the settings it was begun with"});
  }
  check_refused(files, {"clean"}, kUsage, {"--train FILE"});
  check_refused(files, {"run", files.write("a.toml", "problem = \"clean\"\n\nitertions = 3\n")}, kUsage,
                {"a.toml:3:1", "itertions", "did you mean \"iterations\"?"});
  check_refused(files, {"run", files.write("b.toml", "problem = \"clean\"\nx = = 3\n")}, kUsage,
                {"b.toml:2:"});
  check_refused(files, {"run", "nowhere.toml"}, kUsage, {"nowhere.toml", "cannot be read"});
  CHECK(files.run({"claen"}).code == kUsage);
  CHECK(files.run({}).code == kUsage);
}

TEST_CASE("refused: bounds that are none") {
  const Workspace files;
  const std::string train = good_file(files);
  const auto refused = [&](const std::string& value, std::string_view piece) {
    check_refused(files, {"tune", "--train", train, "--bounds", value}, kUsage,
                  {"bounds = \"" + value + "\"", "LOW,HIGH", piece});
  };
  refused("12", "there is no comma");
  refused("-12,x", "\"x\" is not a number");
  refused("-12 ,3", "\"-12 \" is not a number");
  refused(",3", "\"\" is not a number");
  refused("-inf,3", "\"-inf\" is not a number");
  refused("1,2,3", "\"2,3\" is not a number");
  refused("3,-3", "3 is not below -3");
  refused("3,3", "3 is not below 3");
  refused("nan,3", "\"nan\" is not a number");
  check_refused(files, {"clean", "--train", train, "--bounds", "-1,1"}, kUsage,
                {"bounds has no effect for clean"});
}

TEST_CASE("refused: options of other methods than the chosen one") {
  const Workspace files;
  const std::string train = good_file(files);
  const auto refused = [&](std::vector<std::string> flags, std::string_view message) {
    flags.insert(flags.begin(), {"tune", "--train", train});
    check_refused(files, flags, kUsage, {message});
  };
  refused({"--method", "exact", "--max-cuts", "3"}, "max_cuts has no effect with method = exact");
  refused({"--method", "exact", "--c1", "3"}, "cut_regularization has no effect with method = exact");
  refused({"--method", "exact", "--hp-lr", "3"}, "step_upper_local has no effect with method = exact");
  refused({"--method", "exact", "--tau", "3"}, "max_staleness has no effect with method = exact");
  refused({"--method", "sdbo", "--tau", "3"},
          "max_staleness has no effect with method = sdbo (it acts on adbo, async-hypergradient)");
  refused({"--method", "exact", "--active", "3"}, "active_workers has no effect with method = exact");
  refused({"--method", "exact", "--upper-rate", "3"},
          "upper_rate has no effect with method = exact (it acts on async-hypergradient)");
  refused({"--method", "adbo", "--hypergradient-tolerance", "1e-3"},
          "hypergradient_tolerance has no effect with method = adbo (it acts on exact)");
}

TEST_CASE("refused: options that act on nothing that the run has") {
  const Workspace files;
  const std::string train = good_file(files);
  for (const std::string command : {"tune", "clean"}) {
    for (const std::string option :
         {"step-upper-local", "step-consensus-dual", "dual-bound", "dual-regularization-floor"}) {
      const std::vector<std::string> line{command, "--train",     train, "--method",
                                          "adbo",  "--" + option, "0.5"};
      std::string name = option;
      std::replace(name.begin(), name.end(), '-', '_');
      check_refused(files, line, kUsage, {name + " has no effect with consensus = general"});
      CHECK(files.run(line + std::vector<std::string>{"--consensus", "full", "--iterations", "2"}).code == 0);
    }
  }
  const std::vector<std::string> limited{"--train", train, "--move-limit", "1e-3", "--iterations", "2"};
  for (const std::string method : {"saba", "soba", "stocbio", "vrbo", "amigo", "stable"}) {
    CAPTURE(method);
    const std::vector<std::string> line = limited + std::vector<std::string>{"--method", method};
    check_refused(files, std::vector<std::string>{"clean"} + line, kUsage,
                  {"move_limit has no effect without bounds"});
    check_refused(files, std::vector<std::string>{"tune", "--bounds", "none"} + line, kUsage,
                  {"move_limit has no effect without bounds"});
    CHECK(files.run(std::vector<std::string>{"tune"} + line).code == 0);
  }
}

TEST_CASE("refused: values of flags that are neither true nor false") {
  const Workspace files;
  const std::string train = good_file(files);
  for (const std::string value : {"1", "1e300", "-1", "", "yes", "xyz"}) {
    check_refused(files, {"tune", "--train", train, "--per-class=" + value}, kUsage,
                  {"--per-class = \"" + value + "\"", "expected true or false"});
  }
  check_refused(files, {"tune", "--train", train, "--seed=", "3"}, kUsage, {"--seed needs a value"});
  CHECK(files.run({"tune", "--train", train, "--out=", "--quiet"}).code == kUsage);
  CHECK_FALSE(files.exists("--quiet"));
  // What is said last counts, and false is said too.
  const std::string config =
      files.write("a.toml", "problem = \"tune\"\njson = true\niterations = 2\ntrain = \"" + train + "\"\n");
  CHECK(contains(files.run({"run", config}).out, "\"status\""));
  CHECK_FALSE(contains(files.run({"run", config, "--json=false"}).out, "\"status\""));
  CHECK(
      contains(files.run({"tune", "--train", train, "--iterations", "2", "--json=true"}).out, "\"status\""));
}

TEST_CASE("refused: files that are not there, by their option; one class, by the file that has the labels") {
  const Workspace files;
  const std::string train = good_file(files);
  check_refused(files, {"tune", "--train", "nowhere"}, kInputData, {"nowhere: no such file", "--train)"});
  check_refused(files, {"tune", "--train", train, "--test", "nowhere"}, kInputData, {"--test)"});
  check_refused(files, {"tune", "--train", train, "--train-labels", "nowhere"}, kInputData,
                {"nowhere: no such file", "--train-labels)"});
  check_refused(files,
                {"tune", "--train", files.write("rows.csv", "1,2\n3,4\n5,6\n"), "--train-labels",
                 files.write("labels.txt", "a\na\na\n")},
                kInputData, {"labels.txt: all 3 rows have the label \"a\""});
}

TEST_CASE("refused: pictures") {
  const Workspace files;
  const std::string images = idx_images(30, 1);
  const std::string labels = files.write("labels.idx", idx_labels(30));
  check_refused(
      files,
      {"clean", "--train", files.write("cut.idx", std::string_view(images).substr(0, images.size() - 7)),
       "--train-labels", labels},
      kInputData, {"cut.idx", "480 bytes", "found 473"});
  check_refused(files,
                {"clean", "--train", files.write("images.idx", images), "--train-labels",
                 files.write("few.idx", idx_labels(29))},
                kInputData, {"images.idx", "few.idx", "30", "29"});
  check_refused(files, {"clean", "--train", files.write("images.idx", images)}, kInputData,
                {"images.idx", "no labels", "--train-labels"});
}

TEST_CASE("refused: tables") {
  const Workspace files;
  check_refused(files,
                {"clean", "--train", files.write("word.libsvm", "1 1:0.5 2:1\n-1 1:0.25 2:abc\n1 1:3\n")},
                kInputData, {"word.libsvm:2:", "\"abc\"", "number"});
  check_refused(files, {"clean", "--train", files.path("missing.libsvm")}, kInputData, {"missing.libsvm"});
  check_refused(files, {"clean", "--train", files.write("empty.libsvm", "")}, kInputData,
                {"empty.libsvm", "empty"});
  check_refused(files, {"clean", "--train", files.write("one.libsvm", "1 1:1\n1 1:2\n1 1:3\n")}, kInputData,
                {"one.libsvm", "two classes"});
  const std::string named = files.write("named.csv", "a,b,y\n1,2,0\n3,4,1\n5,6,0\n7,8,1\n1,9,0\n2,2,1\n");
  const std::string other_order = files.write("order.csv", "b,a,y\n2,1,0\n4,3,1\n");
  for (const std::string option : {"--test", "--validation"}) {
    check_refused(files, {"clean", "--train", named, "--workers", "2", option, other_order}, kInputData,
                  {"order.csv: feature 1 is \"b\"", "named.csv it is \"a\"", "in another order"});
  }
  const Outcome renamed =
      files.run({"clean", "--train", named, "--workers", "2", "--iterations", "1", "--test",
                 files.write("names.csv", "a,c,y\n1,2,0\n3,4,1\n"), "--out", "renamed"});
  CHECK(renamed.code == 0);
  CHECK(contains(renamed.err, "names.csv: feature 2 is \"c\""));
  check_refused(files, {"clean", "--train", files.write("ragged.csv", "1,2,0\n3,4,1\n5,6\n")}, kInputData,
                {"ragged.csv:3", "2", "3"});
  check_refused(files,
                {"clean", "--train", files.write("a.csv", "1,2,0\n3,4,1\n5,6,0\n7,8,1\n"), "--test",
                 files.write("b.csv", "1,0\n3,1\n5,1\n")},
                kInputData, {"a.csv has 2", "b.csv has 1"});
}

TEST_CASE("refused: a test label that training never saw") {
  const Workspace files;
  const std::string train = good_file(files);
  const std::string test = files.write("test.libsvm", "1 1:1\n-1 1:0.5\n7 1:2\n");
  for (const char* const command : {"clean", "tune"}) {
    check_refused(files, {command, "--train", train, "--test", test}, kInputData,
                  {"test.libsvm", "row 3", "\"7\"", "train.libsvm"});
  }
}

TEST_CASE("refused: an index so large that no memory holds the models, before any is allocated") {
  const Workspace files;
  const std::string train =
      files.write("train.libsvm", libsvm_rows(40, 5, 1) + "1 2147483640:1\n-1 2147483640:2\n");
  for (const char* const command : {"clean", "tune"}) {
    check_refused(files, {command, "--train", train}, kInputData,
                  {"train.libsvm", "2147483640 columns", "2 classes", "18 workers", "GiB"});
  }
}

TEST_CASE("refused: output folders that cannot be") {
  const Workspace files;
  const std::string train = good_file(files);
  files.write("file", "not a folder");
  const Outcome outcome = files.run({"clean", "--train", train, "--out", "file/result"});
  CHECK(outcome.code == kUsage);
  CHECK(outcome.err.find("file/result") != std::string::npos);
  CHECK(outcome.err.find("is not a folder") != std::string::npos);
  CHECK(files.read("file") == "not a folder");
}

TEST_CASE("refused: an output folder on a file system that is read-only or full") {
  const Workspace files;
  std::filesystem::create_directories(files.path("disk"));
  for (const auto& [flags, options, reason] :
       {std::tuple(static_cast<unsigned long>(MS_RDONLY), "size=1m", "Read-only file system"),
        std::tuple(0UL, "nr_inodes=1", "No space left on device")}) {
    if (::mount("none", files.path("disk").c_str(), "tmpfs", flags, options) != 0) {
      MESSAGE("skipped: no file system can be mounted here");
      return;
    }
    const Outcome outcome = files.run({"clean", "--train", "no-such-file", "--out", "disk/a/b"});
    ::umount(files.path("disk").c_str());
    INFO(outcome.err);
    CHECK(outcome.code == kUsage);
    CHECK(outcome.err.find("out = \"disk/a/b\"") != std::string::npos);
    CHECK(outcome.err.find(reason) != std::string::npos);
  }
}

TEST_CASE("refused: an output folder that cannot be written to, before any data are read") {
  const Workspace files;
  for (const char* const command : {"clean", "tune", "compare"}) {
    std::vector<std::string> arguments{command, "--train", "no-such-file", "--out", "/proc/result"};
    if (arguments.front() == "compare") {
      arguments.insert(arguments.end(), {"--problem", "clean", "--methods", "auto"});
    }
    const Outcome outcome = files.run(arguments);
    INFO(outcome.err);
    CHECK(outcome.code == kUsage);
    CHECK(outcome.err.find("out = \"/proc/result\": /proc cannot be written to: ") != std::string::npos);
  }
  std::filesystem::create_symlink("nowhere", files.path("link"));
  CHECK(files.run({"clean", "--train", "no-such-file", "--out", "link"})
            .err.find("a link to a folder that is not there") != std::string::npos);
  std::filesystem::create_directories(files.path("result/summary.json"));
  const Outcome outcome = files.run({"clean", "--train", "no-such-file", "--out", "result"});
  CHECK(outcome.code == kUsage);
  CHECK(outcome.err.find("result/summary.json is a folder") != std::string::npos);
}

TEST_CASE("refused: data in the output folder under the name of an output") {
  const Workspace files;
  const std::string rows = libsvm_rows(60, 3, 1);
  std::filesystem::create_directory(files.path("out"));
  std::filesystem::create_directory(files.path("out/auto-1"));
  for (const std::string name : {"suspects.csv", "trace.csv", "upper.npy", "model.npy", "summary.json",
                                 "run.json", "table.csv", "finished.jsonl", "checkpoint-000000001.adbo"}) {
    files.write("out/" + name, rows);
    for (const std::string out : {"out", "./out/../out"}) {
      const Outcome refused = files.run({"clean", "--train", "out/" + name, "--workers", "2", "--out", out});
      INFO(refused.err);
      CHECK(refused.code == 2);
      CHECK(contains(refused.err, "lies in the output folder under the name of an output"));
    }
    CHECK(files.read("out/" + name) == rows);
    std::filesystem::remove(files.path("out/" + name));
  }
  // What a link leads to would be lost as well.
  files.write("out/suspects.csv", rows);
  std::filesystem::create_symlink(files.path("out/suspects.csv"), files.path("link.libsvm"));
  CHECK(files.run({"clean", "--train", "link.libsvm", "--workers", "2", "--out", "out"}).code == 2);
  CHECK(files.read("out/suspects.csv") == rows);
  std::filesystem::remove(files.path("out/suspects.csv"));
  files.write("out/auto-1/suspects.csv", rows);
  CHECK(files
            .run({"compare", "--problem", "tune", "--methods", "auto", "--train", "out/auto-1/suspects.csv",
                  "--out", "out"})
            .code == 2);
  CHECK(files.read("out/auto-1/suspects.csv") == rows);
  // Names that no output has are safe there.
  files.write("out/rows.libsvm", rows);
  CHECK(
      files
          .run({"clean", "--train", "out/rows.libsvm", "--workers", "2", "--iterations", "2", "--out", "out"})
          .code == 0);
  CHECK(files.read("out/rows.libsvm") == rows);
}

TEST_CASE("messages: a line of the user's is no line of the program's") {
  const Workspace files;
  const Outcome forged = files.run({"clean", "--train", "a\nadbo: error: forged", "--out", "out"});
  CHECK(forged.code != 0);
  CHECK(!contains(forged.err, "\nadbo: error: forged"));
  CHECK(contains(forged.err, "a\\x0Aadbo"));
}
