// Whole runs of the built command.
#include <doctest/doctest.h>

#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "run_command.h"
#include "support/zip_writer.h"

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

/// Hyper-cleaning of 60 tiny pictures on the virtual clock.
std::vector<std::string> picture_cleaning(const Workspace& files) {
  return {"clean",
          "--train",
          files.write("train.idx", idx_images(60, 1)),
          "--train-labels",
          files.write("train-labels.idx", idx_labels(60)),
          "--test",
          files.write("test.idx", idx_images(30, 2)),
          "--test-labels",
          files.write("test-labels.idx", idx_labels(30)),
          "--workers",
          "4",
          "--iterations",
          "60",
          "--clock",
          "virtual",
          "--delay",
          "lognormal:3.5,1",
          "--corrupt",
          "0.2",
          "--out",
          "result"};
}

std::vector<std::string> column(const std::string& csv, std::size_t index) {
  std::vector<std::string> values;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream cells(line);
    std::string cell;
    for (std::size_t k = 0; k <= index; ++k) std::getline(cells, cell, ',');
    values.push_back(cell);
  }
  return values;
}

}  // namespace

TEST_CASE("clean: pictures, every output file, valid summary") {
  const Workspace files;
  const Outcome outcome = files.run(picture_cleaning(files) + std::vector<std::string>{"--patience", "0"});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  CHECK(contains(outcome.out, "test accuracy delivered"));

  const Json summary = Json::parse(files.read("result/summary.json"));
  CHECK(summary["status"] == "iteration_limit");
  CHECK(summary["method"] == "async-hypergradient");
  CHECK(summary["iterations"] == 60);
  CHECK(summary["virtual_seconds"].get<double>() > 0);
  CHECK(summary["config"]["workers"]["from"] == "flag");
  CHECK(summary["config"]["max_staleness"]["from"] == "default");
  CHECK(summary["data"]["train"]["rows"] == 60);
  CHECK(summary["data"]["train"]["classes"]["0"] == 20);
  CHECK(summary["data"]["training_rows"].get<int>() + summary["data"]["validation_rows"].get<int>() == 60);
  CHECK(!summary["words"].empty());
  for (const char* const name : {"value_function",
                                 "value_function_start",
                                 "value_function_true_mask",
                                 "test_accuracy_delivered",
                                 "test_accuracy_retrained",
                                 "test_accuracy_start",
                                 "test_accuracy_validation_only",
                                 "test_accuracy_true_mask",
                                 "test_accuracy_at_consensus",
                                 "test_loss_at_consensus",
                                 "detection_auc",
                                 "detection_auc_weight",
                                 "detection_auc_plain",
                                 "detection_precision",
                                 "detection_recall",
                                 "detection_f1",
                                 "effective_training_rows",
                                 "held_out_loss",
                                 "held_out_loss_start",
                                 "upper_change_max"}) {
    INFO(name);
    CHECK(summary["metrics"].contains(name));
  }

  // 4 shards of 15 rows, 8 of which validate.
  const std::string suspects = files.read("result/suspects.csv");
  CHECK(line_count(suspects) == 1 + 28);
  CHECK(contains(suspects,
                 "id,row,worker,given_label,predicted_label,weight,score,is_suspect,selected_for_corruption,"
                 "label_changed\n"));
  const std::vector<std::string> rows = column(suspects, 1);
  CHECK(rows[1] == "0");
  CHECK(rows[7] == "6");
  CHECK(rows[8] == "15");
  CHECK(rows[28] == "51");
  const std::vector<std::string> changed = column(suspects, 9);
  CHECK(std::count(changed.begin(), changed.end(), "1") ==
        summary["data"]["corruption"]["changed"].get<int>());

  const std::string trace = files.read("result/trace.csv");
  CHECK(line_count(trace) == 1 + 61);
  CHECK(contains(trace,
                 "iteration,wall_seconds,virtual_seconds,upper_objective,lower_objective,lower_distance"));
  CHECK(files.read("result/upper.npy").size() == 128 + 28 * 8);
  CHECK(contains(files.read("result/model.npy"), "(16, 3)"));
  CHECK(files.read("result/scaling.csv").starts_with("feature,shift,factor\nall,"));
}

TEST_CASE("tune: arrays of an archive, by their names and without") {
  const Workspace files;
  std::string rows, labels;
  for (int k = 0; k < 40; ++k) {
    for (const float value : {0.1F * static_cast<float>(k % 7), static_cast<float>(k % 2), 1.0F}) {
      rows += adbo::io::test::little_endian(std::bit_cast<std::uint32_t>(value), 4);
    }
    labels += static_cast<char>(k % 2);
  }
  const std::string archive =
      files.write("data.npz", adbo::io::test::zip({{"X.npy", adbo::io::test::npy("<f4", "(40, 3)", rows)},
                                                   {"y.npy", adbo::io::test::npy("|u1", "(40,)", labels)}}));
  const std::vector<std::string> rest{"--workers", "2", "--iterations", "3", "--clock", "virtual"};
  REQUIRE(files.run(std::vector<std::string>{"tune", "--train", archive, "--out", "whole"} + rest).code == 0);
  const Outcome named =
      files.run(std::vector<std::string>{"tune", "--train", archive + ":X", "--train-labels", archive + ":y",
                                         "--out", "named"} +
                rest);
  INFO(named.err);
  REQUIRE(named.code == 0);
  CHECK(files.read("named/model.npy") == files.read("whole/model.npy"));
  const Outcome absent =
      files.run(std::vector<std::string>{"tune", "--train", files.path("none.npz") + ":X"} + rest);
  CHECK(absent.code == 3);
  CHECK(contains(absent.err, "none.npz:X: no such file (given as --train)"));
}

TEST_CASE("tune: a start outside the bounds is moved into them, by every method and before its first step") {
  const Workspace files;
  const std::string train = files.write("train.libsvm", libsvm_rows(60, 5, 1));
  const Json info = Json::parse(files.run({"info", "--json"}).out);
  REQUIRE(info["methods"].size() > 10);
  for (const Json& method : info["methods"]) {
    const std::string name = method["name"].get<std::string>();
    CAPTURE(name);
    const Outcome outcome = files.run({"tune", "--train", train, "--workers", "3", "--bounds", "1,2",
                                       "--method", name, "--iterations", "0", "--out", "out"});
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    const std::string bytes = files.read("out/upper.npy");
    std::vector<double> upper(5);
    REQUIRE(bytes.size() == 128 + upper.size() * sizeof(double));
    std::memcpy(upper.data(), bytes.data() + 128, upper.size() * sizeof(double));
    CHECK(std::all_of(upper.begin(), upper.end(), [](double v) { return v >= 1 && v <= 2; }));
  }
}

TEST_CASE("clean: the same bits for any number of threads, other bits for another seed") {
  const Workspace files;
  const std::vector<std::string> line = picture_cleaning(files);
  REQUIRE(files.run(line + std::vector<std::string>{"--threads", "1"}).code == 0);
  const std::string one = files.read("result/upper.npy"), one_suspects = files.read("result/suspects.csv");
  REQUIRE(files.run(line + std::vector<std::string>{"--threads", "3"}).code == 0);
  CHECK(files.read("result/upper.npy") == one);
  CHECK(files.read("result/suspects.csv") == one_suspects);
  REQUIRE(files.run(line + std::vector<std::string>{"--seed", "2"}).code == 0);
  CHECK(files.read("result/suspects.csv") != one_suspects);
}

TEST_CASE("clean: a CSV with words for labels and ids of its own") {
  const Workspace files;
  std::string csv = "name,width,height,kind\n";
  for (int r = 0; r < 40; ++r) {
    csv += "plant-" + std::to_string(r) + "," + std::to_string(r % 2 == 0 ? 10 + r % 7 : -10 - r % 5) + "," +
           std::to_string(r % 9) + "," + (r % 2 == 0 ? "rose" : "\"tulip, red\"") + "\n";
  }
  const Outcome outcome =
      files.run({"clean", "--train", files.write("plants.csv", csv), "--id-column", "name", "--label-column",
                 "kind", "--workers", "2", "--iterations", "20", "--out", "result"});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  const std::string suspects = files.read("result/suspects.csv");
  CHECK(contains(suspects, "\nplant-0,0,0,rose,"));
  CHECK(contains(suspects, "\nplant-1,1,0,\"tulip, red\","));
  CHECK(!contains(suspects, "label_changed"));
  const Json summary = Json::parse(files.read("result/summary.json"));
  CHECK(!summary["metrics"].contains("test_accuracy_delivered"));
  CHECK(!summary["metrics"].contains("detection_auc"));
  CHECK(contains(files.read("result/summary.json"), "No test rows were given"));
}

TEST_CASE("tune: coefficients by feature, JSON on stdout, nothing but that") {
  const Workspace files;
  const Outcome outcome =
      files.run({"tune", "--train", files.write("train.libsvm", libsvm_rows(120, 5, 1)), "--test",
                 files.write("test.libsvm", libsvm_rows(60, 5, 2)), "--workers", "3", "--iterations", "80",
                 "--clock", "virtual", "--json", "--out", "result"});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  const Json summary = Json::parse(outcome.out);
  CHECK(summary == Json::parse(files.read("result/summary.json")));
  CHECK(summary["problem"] == "tune");
  for (const char* const name : {"value_function", "value_function_start", "test_accuracy_retrained",
                                 "test_accuracy_start", "test_accuracy_at_consensus"}) {
    CHECK(summary["metrics"].contains(name));
  }
  const std::string coefficients = files.read("result/coefficients.csv");
  CHECK(contains(coefficients, "feature,psi,coefficient\n"));
  CHECK(line_count(coefficients) == 6);
  CHECK(contains(files.read("result/model.npy"), "(5, 1)"));
}

TEST_CASE("tune: bounds hold, by default where coefficients are exp(psi)") {
  const Workspace files;
  const std::string train = files.write("train.libsvm", libsvm_rows(120, 5, 1));
  const auto largest = [&](const std::vector<std::string>& more) {
    const Outcome outcome = files.run(std::vector<std::string>{"tune", "--train", train, "--workers", "3",
                                                               "--method", "exact", "--out", "result"} +
                                      more);
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    double farthest = 0;
    const std::vector<std::string> psi = column(files.read("result/coefficients.csv"), 1);
    for (std::size_t k = 1; k < psi.size(); ++k) farthest = std::max(farthest, std::abs(std::stod(psi[k])));
    return farthest;
  };
  CHECK(largest({"--bounds", "-0.5,0.25"}) == 0.5);
  CHECK(largest({}) == 12);  // some feature is best left out, or in without a penalty
  CHECK(largest({"--bounds", "none"}) > 12);
  CHECK(largest({"--parametrization", "linear", "--start", "code-tune", "--iterations", "0"}) < 12);
}

TEST_CASE("tune: the reference method converges, and its trace holds the value function") {
  const Workspace files;
  const Outcome outcome =
      files.run({"tune", "--train", files.write("train.libsvm", libsvm_rows(120, 5, 1)), "--workers", "3",
                 "--method", "exact", "--clock", "virtual", "--delay", "lognormal:3.5,1",
                 "--require-converged", "--measure-tolerance", "1e-12", "--out", "result"});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  const Json summary = Json::parse(files.read("result/summary.json"));
  CHECK(summary["status"] == "converged");
  CHECK(summary["method"] == "exact");
  CHECK(summary["active_workers"] == 3);
  CHECK(summary["counts"]["rounds"].get<int>() > summary["iterations"].get<int>());
  CHECK(summary["barrier_virtual_seconds"] == summary["virtual_seconds"]);
  const double value = std::stod(column(files.read("result/trace.csv"), 3).back());
  // Coefficients of e^-12 leave flat directions: at the measures' own 1e-8 the values would agree to 1e-8
  // only.
  CHECK(value == doctest::Approx(summary["metrics"]["value_function"].get<double>()).epsilon(1e-9));
  CHECK(value < summary["metrics"]["value_function_start"].get<double>());
}

TEST_CASE("tune: a lower level that the reference method cannot solve is exit code 7") {
  const Workspace files;
  const Outcome outcome = files.run({"tune", "--train", files.write("train.libsvm", libsvm_rows(40, 8, 1)),
                                     "--workers", "2", "--method", "exact", "--parametrization", "linear",
                                     "--start", "code-tune", "--out", "result"});
  CHECK(outcome.code == 7);
  CHECK(Json::parse(files.read("result/summary.json"))["status"] == "solve_failed");
  CHECK(contains(outcome.out, "the lower level was not solved"));
}

TEST_CASE("tune: the start is measured within the bounds") {
  const Workspace files;
  const Outcome outcome =
      files.run({"tune", "--train", files.write("train.libsvm", libsvm_rows(40, 8, 1)), "--workers", "2",
                 "--bounds", "2,5", "--method", "exact", "--out", "result"});
  REQUIRE(outcome.code == 0);
  const Json metrics = Json::parse(files.read("result/summary.json"))["metrics"];
  CHECK(metrics["value_function"].get<double>() <= metrics["value_function_start"].get<double>() + 1e-9);
}

TEST_CASE("resolve-every: fills its columns, and changes no bit of the run") {
  const Workspace files;
  // Without held-out rows the last state is the delivered one.
  const std::vector<std::string> cleaning =
      picture_cleaning(files) + std::vector<std::string>{"--holdout", "0", "--measure-tolerance", "1e-9"};
  const std::vector<std::string> tuning{"tune",
                                        "--train",
                                        files.write("train.libsvm", libsvm_rows(120, 5, 1)),
                                        "--test",
                                        files.write("test.libsvm", libsvm_rows(60, 5, 2)),
                                        "--workers",
                                        "3",
                                        "--iterations",
                                        "60",
                                        "--clock",
                                        "virtual",
                                        "--delay",
                                        "lognormal:3.5,1",
                                        "--out",
                                        "result"};
  for (const std::vector<std::string>& line : {cleaning, tuning}) {
    REQUIRE(files.run(line).code == 0);
    const std::string upper = files.read("result/upper.npy"), model = files.read("result/model.npy");
    const std::string without = files.read("result/trace.csv");
    const std::vector<std::string> resolving{"--resolve-every", "25"};
    REQUIRE(files.run(line + resolving).code == 0);
    const std::string with = files.read("result/trace.csv");
    CHECK(files.read("result/upper.npy") == upper);
    CHECK(files.read("result/model.npy") == model);
    // Everything but the seconds of the wall and the processor, and the two columns asked for.
    for (const std::size_t k : {0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}) {
      CHECK(column(with, k) == column(without, k));
    }
    const std::vector<std::string> cpu = column(with, 13), value = column(with, 14),
                                   accuracy = column(with, 15);
    CHECK(cpu[0] == "cpu_seconds");
    CHECK(value[0] == "value_function");
    CHECK(accuracy[0] == "test_accuracy_retrained");
    REQUIRE(value.size() == 1 + 61);
    for (std::size_t iteration = 0; iteration <= 60; ++iteration) {
      const bool due = iteration % 25 == 0 || iteration == 60;
      CHECK(value[1 + iteration].empty() == !due);
      CHECK(accuracy[1 + iteration].empty() == !due);
      CHECK(!cpu[1 + iteration].empty());
      CHECK(column(without, 14)[1 + iteration].empty());
    }
    const Json metrics = Json::parse(files.read("result/summary.json"))["metrics"];
    CHECK(std::stod(value[1]) ==
          doctest::Approx(metrics["value_function_start"].get<double>()).epsilon(1e-6));
    CHECK(std::stod(value.back()) == doctest::Approx(metrics["value_function"].get<double>()).epsilon(1e-6));
    CHECK(std::stod(accuracy.back()) == doctest::Approx(metrics["test_accuracy_retrained"].get<double>()));
  }
}

TEST_CASE("tune: an unbounded lower level is said, and its measures are left out") {
  const Workspace files;
  // Normal draws for the coefficients themselves: some are negative, and their penalty falls for ever.
  const Outcome outcome = files.run({"tune", "--train", files.write("train.libsvm", libsvm_rows(40, 8, 1)),
                                     "--workers", "2", "--iterations", "5", "--parametrization", "linear",
                                     "--start", "code-tune", "--clock", "virtual", "--out", "result"});
  INFO(outcome.err);
  CHECK(outcome.code == 0);
  CHECK(contains(outcome.out, "The lower level is unbounded at the end"));
  CHECK(contains(outcome.out, "model.npy holds the consensus model"));
  const Json summary = Json::parse(files.read("result/summary.json"));
  CHECK(!summary["metrics"].contains("value_function"));
  CHECK(contains(files.read("result/model.npy"), "(8, 1)"));
}

TEST_CASE("tune: rows of both files pooled, the others test") {
  const Workspace files;
  const Outcome outcome =
      files.run({"tune", "--train", files.write("train.libsvm", libsvm_rows(30, 3, 1)), "--test",
                 files.write("test.libsvm", libsvm_rows(20, 3, 2)), "--pool-rows", "40", "--workers", "4",
                 "--iterations", "5", "--out", "result"});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  const Json data = Json::parse(files.read("result/summary.json"))["data"];
  CHECK(data["training_rows"] == 20);
  CHECK(data["validation_rows"] == 20);
  CHECK(data["train"]["rows"] == 30);
}

TEST_CASE("tune: one class against the others, softmax with a coefficient per class") {
  const Workspace files;
  const std::vector<std::string> pictures{"tune",
                                          "--train",
                                          files.write("train.idx", idx_images(60, 1)),
                                          "--train-labels",
                                          files.write("train-labels.idx", idx_labels(60)),
                                          "--workers",
                                          "2",
                                          "--iterations",
                                          "5",
                                          "--out",
                                          "result"};
  REQUIRE(files.run(pictures + std::vector<std::string>{"--positive-class", "2"}).code == 0);
  CHECK(contains(files.read("result/model.npy"), "(16, 1)"));
  CHECK(Json::parse(files.read("result/summary.json"))["data"]["train"]["classes"]["not 2"] == 40);
  REQUIRE(files.run(pictures + std::vector<std::string>{"--per-class"}).code == 0);
  CHECK(contains(files.read("result/model.npy"), "(16, 3)"));
  CHECK(line_count(files.read("result/coefficients.csv")) == 1 + 16 * 3);
}

TEST_CASE("clean: a validation file of its own, sparse rows, random split") {
  const Workspace files;
  std::string sparse;
  for (int r = 0; r < 40; ++r) {
    sparse +=
        (r % 2 == 0 ? "1 " : "-1 ") + std::to_string(r % 2 == 0 ? 1 + r % 5 : 6 + r % 4) + ":1 40:0.5\n";
  }
  const std::string train = files.write("train.libsvm", sparse);
  const Outcome own = files.run({"clean", "--train", train, "--validation", train, "--test", train,
                                 "--workers", "4", "--iterations", "10", "--out", "result"});
  INFO(own.err);
  REQUIRE(own.code == 0);
  CHECK(line_count(files.read("result/suspects.csv")) == 41);
  CHECK(!contains(own.out, "taken from the training file"));
  CHECK(files
            .run({"clean", "--train", train, "--split", "random", "--validation-fraction", "0.25",
                  "--workers", "4", "--iterations", "10", "--out", "result"})
            .code == 0);
  CHECK(line_count(files.read("result/suspects.csv")) ==
        1 + 4 * 7);  // 10 rows a shard, round(2.5) = 3 validate
}

TEST_CASE("tune: test rows with many zeros are scaled as the full rows that train") {
  const Workspace files;
  const std::vector<std::string> settings{"--workers", "3", "--iterations", "5", "--clock", "virtual"};
  std::string train_libsvm, train_csv;
  for (int r = 0; r < 60; ++r) {
    const int label = r % 2, first = 3 + label + r % 5, second = 7 - label - r % 3;
    train_libsvm += std::to_string(label) + " 1:" + std::to_string(first) + " 2:" + std::to_string(second) +
                    " 3:1 4:" + std::to_string(r % 7 + 1) + "\n";
    train_csv += std::to_string(first) + "," + std::to_string(second) + ",1," + std::to_string(r % 7 + 1) +
                 "," + std::to_string(label) + "\n";
  }
  REQUIRE(files
              .run(std::vector<std::string>{
                       "tune", "--train", files.write("train.libsvm", train_libsvm), "--test",
                       files.write("test.libsvm", "0 1:2\n1 2:9\n1 3:1\n0 4:5\n"), "--out", "sparse"} +
                   settings)
              .code == 0);
  REQUIRE(files
              .run(std::vector<std::string>{
                       "tune", "--train", files.write("train.csv", train_csv), "--test",
                       files.write("test.csv", "2,0,0,0,0\n0,9,0,0,1\n0,0,1,0,1\n0,0,0,5,0\n"), "--out",
                       "dense"} +
                   settings)
              .code == 0);
  const Json sparse = Json::parse(files.read("sparse/summary.json")),
             dense = Json::parse(files.read("dense/summary.json"));
  CHECK(sparse["metrics"]["test_loss_retrained"] == dense["metrics"]["test_loss_retrained"]);
  CHECK(sparse["data"]["train"]["index_base"] == 1);
}

TEST_CASE("clean: few rows bring the default number of workers down") {
  const Workspace files;
  const Outcome outcome = files.run({"clean", "--train", files.write("train.libsvm", libsvm_rows(12, 3, 1)),
                                     "--iterations", "5", "--out", "result"});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  const Json summary = Json::parse(files.read("result/summary.json"));
  CHECK(summary["workers"] == 6);
  CHECK(summary["active_workers"] == 3);
  CHECK(summary["config"]["workers"]["from"] == "default");
}

TEST_CASE("run: a file, --set over it, a flag over both, each origin kept") {
  const Workspace files;
  const std::string config =
      files.write("run.toml",
                  "problem = \"quadratic\"\nworkers = 3\niterations = 50\n[method]\ntau = 4\n"
                  "seed = 5\nclock = \"virtual\"\n");
  const Outcome outcome =
      files.run({"run", config, "--set", "tau=6", "--iterations", "40", "--out", "result"});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  const Json summary = Json::parse(files.read("result/summary.json"));
  CHECK(summary["iterations"] == 40);
  CHECK(summary["config"]["iterations"]["from"] == "flag");
  CHECK(summary["config"]["max_staleness"]["value"] == 6);
  CHECK(summary["config"]["max_staleness"]["from"] == "set");
  CHECK(summary["config"]["seed"]["value"] == 5);
  CHECK(summary["config"]["seed"]["from"] == "file");
  CHECK(summary["config"]["lower_rounds"]["from"] == "default");
  CHECK(summary["metrics"].contains("upper_distance_max"));
}

TEST_CASE("run: matrices beyond the machine's memory are refused with their sizes") {
  const Workspace files;
  for (const std::string size : {"upper_dim = 1000000", "upper_dim = 500000\nlower_dim = 10000"}) {
    const std::string config = files.write("run.toml", "problem = \"quadratic\"\n" + size + "\n");
    const Outcome outcome = files.run({"run", config, "--out", "result"});
    CHECK(outcome.code == 2);
    CHECK(contains(outcome.err, "their matrices need at least"));
    CHECK(contains(outcome.err, "upper_dim = "));
    CHECK_FALSE(files.exists("result"));
  }
}

TEST_CASE("run: a value function that did not fall is said") {
  const Workspace files;
  const std::string config =
      files.write("run.toml", "problem = \"quadratic\"\nclock = \"virtual\"\niterations = 0\n");
  const Outcome outcome = files.run({"run", config, "--out", "result"});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  CHECK(contains(outcome.out, "The value function did not fall"));
}

TEST_CASE("run: divergence is exit code 4, with the summary written") {
  const Workspace files;
  const std::string config = files.write("run.toml",
                                         "problem = \"quadratic\"\nmethod = \"adbo\"\nstep_lower_local = "
                                         "1e8\niterations = 500\nclock = \"virtual\"\n");
  const Outcome outcome = files.run({"run", config, "--out", "result"});
  INFO(outcome.err);
  CHECK(outcome.code == 4);
  const Json summary = Json::parse(files.read("result/summary.json"));
  CHECK(summary["status"] == "diverged");
  CHECK(contains(summary["message"].get<std::string>(), "iteration"));
  CHECK(contains(outcome.out, "ended before its time"));
}

TEST_CASE("run: --require-converged is exit code 6 when a limit ended the run") {
  const Workspace files;
  const std::string config =
      files.write("run.toml", "problem = \"quadratic\"\niterations = 5\nclock = \"virtual\"\n");
  CHECK(files.run({"run", config, "--require-converged", "--out", "result"}).code == 6);
  const Outcome converged = files.run({"run", config, "--require-converged", "--stationarity-target", "1e300",
                                       "--stationarity-interval", "1", "--out", "result"});
  INFO(converged.err);
  CHECK(converged.code == 0);
  CHECK(Json::parse(files.read("result/summary.json"))["status"] == "converged");
}

TEST_CASE("run: a signal stops in order, with the outputs written") {
  for (const auto& [signal, code] :
       {std::pair{SIGINT, 130}, std::pair{SIGTERM, 143}, std::pair{SIGHUP, 129}}) {
    const Workspace files;
    const std::string config = files.write("run.toml", "problem = \"quadratic\"\niterations = 100000000\n");
    const Outcome outcome =
        files.run_and_signal({"run", config, "--out", "result"}, signal, "result/trace.csv", 2);
    INFO(outcome.err);
    CHECK(outcome.code == code);
    const Json summary = Json::parse(files.read("result/summary.json"));
    CHECK(summary["status"] == "stopped");
    CHECK(summary["iterations"].get<long>() > 0);
    CHECK(files.exists("result/upper.npy"));
    const std::string trace = files.read("result/trace.csv");
    CHECK(trace.back() == '\n');  // no half line
  }
}

TEST_CASE("run: a hangup that the process was started to ignore, as nohup does, stays ignored") {
  const Workspace files;
  const std::string config =
      files.write("run.toml", "problem = \"quadratic\"\niterations = 100000000\ntime_limit = 1\n");
  const auto before = std::signal(SIGHUP, SIG_IGN);
  const Outcome outcome =
      files.run_and_signal({"run", config, "--out", "result"}, SIGHUP, "result/trace.csv", 2);
  std::signal(SIGHUP, before);
  INFO(outcome.err);
  CHECK(outcome.code == 0);
  CHECK(Json::parse(files.read("result/summary.json"))["status"] == "time_limit");
}

TEST_CASE("run: a signal that the process was started to ignore counts while data are read, too") {
  const Workspace files;
  REQUIRE(::mkfifo(files.path("endless").c_str(), 0600) == 0);
  for (const std::string command : {"clean", "compare"}) {
    std::vector<std::string> line{command, "--train", "endless"};
    if (command == "compare") line.insert(line.end(), {"--problem", "clean", "--methods", "auto,exact"});
    for (const int signal : {SIGINT, SIGTERM}) {
      const auto before = std::signal(signal, SIG_IGN);
      const Outcome outcome = files.run_and_signal_after(line, signal, 0.5);
      std::signal(signal, before);
      CHECK(outcome.code == 128 + signal);
    }
    CHECK(files.run_and_signal_after(line, SIGHUP, 0.5).code == 129);
  }
}

namespace {

/// Measuring takes about a second for 1,500 evaluations, everything else hundredths of one.
std::vector<std::string> measured_for_long(const Workspace& files, const std::string& out,
                                           const std::string& evaluations) {
  const std::string rows = files.write("train.libsvm", libsvm_rows(8000, 40, 1, 5));
  return {"clean",     "--train",
          rows,        "--workers",
          "4",         "--iterations",
          "1",         "--corrupt",
          "0.4",       "--ridge",
          "1e-9",      "--measure-tolerance",
          "1e-14",     "--measure-evaluations",
          evaluations, "--scale",
          "none",      "--out",
          out};
}

}  // namespace

TEST_CASE("run: a signal while results are measured is acknowledged, and the results are written") {
  const Workspace files;
  for (const bool in_full : {false, true}) {
    const std::string out = in_full ? "full" : "given-up";
    std::vector<std::string> line = measured_for_long(files, out, "600");
    if (in_full) line.insert(line.end(), {"--measure", "full"});
    const Outcome outcome = files.run_and_signal(line, SIGTERM, out + "/upper.npy", 0);
    INFO(outcome.err);
    CHECK(outcome.code == 143);
    CHECK(contains(outcome.err, "stopping as soon as the results are written (a second signal ends "));
    const Json summary = Json::parse(files.read(out + "/summary.json"));
    CHECK(summary["status"] == "iteration_limit");
    CHECK(summary["measured"] == (in_full ? "full" : "quick"));
    CHECK(summary["metrics"].contains("value_function") == in_full);
    CHECK(contains(outcome.out, "Nothing was trained again (a signal came)") == !in_full);
    CHECK(line_count(files.read(out + "/suspects.csv")) > 1);
    if (in_full) continue;
    // The run is over; what is gone on with is the measuring.
    CHECK(summary["resumable"] == true);
    const Outcome resumed = files.run({"resume", out});
    INFO(resumed.err);
    CHECK(resumed.code == 0);
    const Json whole = Json::parse(files.read(out + "/summary.json"));
    CHECK(whole["measured"] == "full");
    CHECK(whole["iterations"] == summary["iterations"]);
    CHECK_FALSE(whole.contains("resumable"));
  }
}

TEST_CASE("run: several hangups, as the end of a terminal sends them, are one") {
  const Workspace files;
  const std::vector<std::string> line =
      measured_for_long(files, "result", "600") + std::vector<std::string>{"--measure", "full"};
  const Outcome outcome = files.run_and_signal(line, SIGHUP, "result/upper.npy", 0, 3);
  INFO(outcome.err);
  CHECK(outcome.code == 129);
  CHECK(Json::parse(files.read("result/summary.json"))["measured"] == "full");
}

TEST_CASE("run: the limit of time ends the measuring") {
  const Workspace files;
  const Outcome outcome =
      files.run(measured_for_long(files, "result", "100000") + std::vector<std::string>{"--time-limit", "2"});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  const Json summary = Json::parse(files.read("result/summary.json"));
  CHECK(summary["status"] == "iteration_limit");
  CHECK(summary["measured"] == "quick");
  CHECK(summary["resumable"] == true);
  CHECK(contains(outcome.out, "Nothing was trained again (the time limit was over)"));
}

TEST_CASE("progress: lines on a pipe, nothing with --quiet, results on stdout alone") {
  const Workspace files;
  const std::string config = files.write("run.toml", "problem = \"quadratic\"\niterations = 30\n");
  const Outcome lines = files.run({"run", config, "--out", "result"});
  CHECK(contains(lines.err, "iteration 30/30"));
  CHECK(!contains(lines.err, "\r"));
  CHECK(!contains(lines.out, "iteration 30/30"));
  const Outcome quiet = files.run({"run", config, "--quiet", "--out", "result"});
  CHECK(quiet.err.empty());
  CHECK(!quiet.out.empty());
  const std::string no_bar = files.run({"run", config, "--progress", "bar", "--out", "result"}).err;
  CHECK(!contains(no_bar, "\r"));
  CHECK(!contains(no_bar, "\x1b"));
  CHECK(contains(no_bar, "adbo: progress = bar needs a terminal on stderr: lines instead\n"));
  CHECK(no_bar.find("needs a terminal") == no_bar.rfind("needs a terminal"));
  CHECK(contains(no_bar, "adbo: iteration "));
}

TEST_CASE("info: overview, options, JSON") {
  const Workspace files;
  const Outcome overview = files.run({"info"});
  CHECK(overview.code == 0);
  for (const char* const piece :
       {"instruction set", "sdbo", "quadratic", "paper/fashion-mnist", "code/ijcnn1"}) {
    CHECK(contains(overview.out, piece));
  }
  const Outcome options = files.run({"info", "--options"});
  CHECK(contains(options.out, "max_staleness (tau)"));
  CHECK(contains(options.out, "validation_fraction"));
  const Json json = Json::parse(files.run({"info", "--json"}).out);
  CHECK(json["presets"].size() == 13);
  for (const char* const list : {"methods", "presets"}) {
    for (const Json& entry : json[list]) {
      CHECK(contains(overview.out, "  " + entry["name"].get<std::string>() + "  "));
    }
  }
  CHECK(json["options"].size() > 60);
}

TEST_CASE("tune: a test file changes nothing of what is learned") {
  const Workspace files;
  const std::vector<std::string> line{
      "tune",      "--train", files.write("train.libsvm", libsvm_rows(40, 3, 1)),
      "--workers", "2",       "--iterations",
      "20",        "--clock", "virtual",
      "--out",     "result"};
  REQUIRE(files.run(line).code == 0);
  const std::string alone = files.read("result/upper.npy");
  const std::string model = files.read("result/model.npy");
  for (const auto& [columns, cut] : {std::pair{2, 0}, std::pair{3, 0}, std::pair{5, 2}}) {
    const Outcome outcome = files.run(
        line + std::vector<std::string>{"--test", files.write("test.libsvm", libsvm_rows(20, columns, 2))});
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK(files.read("result/upper.npy") == alone);
    CHECK(files.read("result/model.npy") == model);
    CHECK(contains(outcome.err, "2 of 5 columns are beyond the 3") == (cut > 0));
    const Json test = Json::parse(files.read("result/summary.json"))["data"]["test"];
    CHECK(test["columns"] == 3);
    CHECK(test.value("columns_cut", 0) == cut);
  }
}

TEST_CASE("progress: an objective that was not measured is left out") {
  const Workspace files;
  const std::string config = files.write("run.toml",
                                         "problem = \"quadratic\"\nmethod = \"adbo\"\niterations = 30\nclock "
                                         "= \"virtual\"\nstep_lower_local = 1e8\n");
  const Outcome diverged = files.run({"run", config, "--out", "result"});
  CHECK(contains(diverged.err, "iteration "));
  CHECK(!contains(diverged.err, "nan"));
  CHECK(!contains(diverged.err, "inf"));
}

TEST_CASE("progress: a test of an earlier iteration is told from one of this") {
  const Workspace files;
  const std::string train = files.write("train.libsvm", libsvm_rows(120, 5, 1));
  const std::vector<std::string> line{"clean", "--train", train,    "--test",    train, "--workers",
                                      "2",     "--out",   "result", "--holdout", "0"};
  const Outcome last = files.run(line + std::vector<std::string>{"--iterations", "10"});
  CHECK(contains(last.err, "iteration 10/10"));
  CHECK(!contains(last.err, " at 10"));
  // Stopped between two tests: the last line says of which iteration its test is.
  const Outcome stopped =
      files.run(line + std::vector<std::string>{"--evaluate-every", "1000000", "--iterations", "100000000",
                                                "--time-limit", "0.3"});
  INFO(stopped.err);
  CHECK(contains(stopped.err, " at 0"));
}

TEST_CASE("results: those of an earlier run in the same folder do not stand beside the new ones") {
  const Workspace files;
  const std::string train = files.write("train.libsvm", libsvm_rows(120, 5, 1));
  REQUIRE(
      files.run({"clean", "--train", train, "--iterations", "2", "--workers", "3", "--out", "result"}).code ==
      0);
  REQUIRE(files.exists("result/suspects.csv"));
  files.write("result/notes.txt", "mine");
  REQUIRE(
      files.run({"tune", "--train", train, "--iterations", "2", "--workers", "3", "--out", "result"}).code ==
      0);
  CHECK_FALSE(files.exists("result/suspects.csv"));
  CHECK(files.exists("result/coefficients.csv"));
  CHECK(files.read("result/notes.txt") == "mine");
}

TEST_CASE("results: a stdout that takes nothing is a failure, not a success") {
  if (!std::filesystem::exists("/dev/full")) {
    MESSAGE("skipped: no /dev/full here");
    return;
  }
  const Workspace files;
  const std::string train = files.write("train.libsvm", libsvm_rows(120, 5, 1));
  for (const std::string& arguments :
       {std::string("info --options"),
        "tune --iterations 2 --workers 3 --json --train " + train + " --out " + files.path("result")}) {
    const std::string line =
        std::string(ADBO_COMMAND) + " " + arguments + " >/dev/full 2>" + files.path("messages");
    const int status = std::system(line.c_str());
    CHECK(WEXITSTATUS(status) == 8);
    CHECK(contains(files.read("messages"), "stdout: cannot be written: No space left on device"));
  }
}

TEST_CASE("results: a reader that goes away is exit code 8 and a message, the files are there") {
  const Workspace files;
  const std::string train = files.write("train.libsvm", libsvm_rows(120, 5, 1));
  // `true` is gone long before anything is written: the pipe has no reader.
  const std::string line = "( " + std::string(ADBO_COMMAND) +
                           " tune --iterations 2 --workers 3 --json --train " + train + " --out " +
                           files.path("result") + " 2>" + files.path("messages") + "; echo $? >" +
                           files.path("code") + " ) | true";
  CHECK(std::system(line.c_str()) == 0);
  CHECK(files.read("code") == "8\n");
  CHECK(contains(files.read("messages"), "adbo: error: stdout: cannot be written: Broken pipe"));
  CHECK(Json::accept(files.read("result/summary.json")));
}

TEST_CASE("results: a limit on the size of files is exit code 8 and names the file") {
  const Workspace files;
  const std::string line = "ulimit -f 2; " + std::string(ADBO_COMMAND) +
                           " clean --iterations 9 --checkpoint-every 3 --workers 3 --train " +
                           files.write("train.libsvm", libsvm_rows(400, 5, 1)) + " --out " +
                           files.path("result") + " 2>" + files.path("messages") + " >" + files.path("out");
  const int status = std::system(line.c_str());
  INFO(files.read("messages"));
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 8);
  CHECK(contains(files.read("messages"), "cannot be written: File too large"));
  for (const auto& entry : std::filesystem::directory_iterator(files.path("result"))) {
    CHECK_FALSE(contains(entry.path().string(), ".partial-"));
  }
}

TEST_CASE("results: a stream that the caller closed is no result file") {
  const Workspace files;
  const std::string command = std::string(ADBO_COMMAND) + " tune --iterations 2 --workers 3 --train " +
                              files.write("train.libsvm", libsvm_rows(120, 5, 1)) + " --out " +
                              files.path("result");
  int status = std::system((command + " >&- 2>" + files.path("messages")).c_str());
  CHECK(WEXITSTATUS(status) == 8);
  CHECK(contains(files.read("messages"), "stdout: cannot be written"));
  status = std::system((command + " <&- 2>&- >" + files.path("answer")).c_str());
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(contains(files.read("answer"), "value function"));
  CHECK(!contains(files.read("result/trace.csv"), "adbo:"));
}

TEST_CASE("results: a disk that is full is exit code 8 and names the file, whichever it is") {
  if (!std::filesystem::exists("/dev/full")) {
    MESSAGE("skipped: no /dev/full here");
    return;
  }
  const Workspace files;
  const std::vector<std::string> command{"--train",      files.write("train.libsvm", libsvm_rows(120, 5, 1)),
                                         "--workers",    "3",
                                         "--iterations", "2",
                                         "--out",        "result"};
  for (const std::string name : {"trace.csv", "upper.npy", "suspects.csv", "gallery.json", "model.npy",
                                 "scaling.csv", "summary.json", "coefficients.csv"}) {
    CAPTURE(name);
    std::filesystem::create_directories(files.path("result"));
    std::filesystem::create_symlink("/dev/full", files.path("result/" + name));
    const std::string task = name == "coefficients.csv" ? "tune" : "clean";
    const Outcome outcome = files.run(std::vector<std::string>{task} + command);
    CHECK(outcome.code == 8);
    CHECK(contains(outcome.err, "result/" + name + ": cannot be written: No space left on device"));
    CHECK(outcome.out.empty());
    std::filesystem::remove_all(files.path("result"));
  }
}

TEST_CASE("results: a small file system that fills up leaves no half file") {
  const Workspace files;
  std::filesystem::create_directories(files.path("disk"));
  if (::mount("none", files.path("disk").c_str(), "tmpfs", 0, "size=16k") != 0) {
    MESSAGE("skipped: no file system can be mounted here");
    return;
  }
  const Outcome outcome = files.run({"clean", "--train", files.write("train.libsvm", libsvm_rows(400, 5, 1)),
                                     "--workers", "3", "--iterations", "2", "--out", "disk/result"});
  CHECK(outcome.code == 8);
  CHECK(contains(outcome.err, "No space left on device"));
  CHECK(!files.exists("disk/result/summary.json"));
  for (const auto& entry : std::filesystem::directory_iterator(files.path("disk/result"))) {
    CHECK(!contains(entry.path().string(), ".partial"));
  }
  ::umount(files.path("disk").c_str());
}

TEST_CASE("clean: held-out rows decide what is delivered, and patience ends the run") {
  const Workspace files;
  const std::vector<std::string> line = picture_cleaning(files);
  // Steps so large that the consensus model is soon past its best.
  const std::vector<std::string> rash{"--holdout", "0.5",   "--method",
                                      "adbo",      "--set", "step_lower_consensus=0.5"};
  REQUIRE(files.run(line + rash + std::vector<std::string>{"--patience", "0"}).code == 0);
  const Json whole = Json::parse(files.read("result/summary.json"));
  CHECK(whole["status"] == "iteration_limit");
  CHECK(whole["data"]["validation_rows"] == 32);
  const int held_out = whole["data"]["held_out_rows"];
  CHECK(held_out == 16);  // half of 8 in every shard
  CHECK(whole["read_seconds"].get<double>() > 0);
  CHECK(whole["metrics"]["held_out_loss"].get<double>() <=
        whole["metrics"]["held_out_loss_start"].get<double>());

  // The trace has the loss where it was evaluated; the delivered state is smaller than all before it.
  const std::vector<std::string> losses = column(files.read("result/trace.csv"), 9);
  REQUIRE(losses.front() == "held_out_loss");
  const std::size_t delivered = whole["delivered_iteration"];
  for (std::size_t k = 1; k < losses.size(); ++k) {
    CHECK(losses[k].empty() == ((k - 1) % 5 != 0));
    if (losses[k].empty()) continue;
    const double loss = std::stod(losses[k]), chosen = whole["metrics"]["held_out_loss"];
    if (k - 1 < delivered) CHECK(loss > chosen);
    if (k - 1 == delivered) CHECK(loss == doctest::Approx(chosen).epsilon(1e-12));
  }
}

TEST_CASE("clean: where no row can be held out the words say so") {
  const Workspace files;
  const std::vector<std::string> line = picture_cleaning(files);
  constexpr std::string_view kWords = "No validation row could be held out (holdout = 0.3)";
  REQUIRE(files.run(line + std::vector<std::string>{"--validation-fraction", "0.07"}).code == 0);
  const Json summary = Json::parse(files.read("result/summary.json"));
  CHECK(summary["data"]["validation_rows"] == 4);  // one of every worker's 15
  CHECK(summary["data"]["held_out_rows"] == 0);
  CHECK(contains(summary["words"].dump(), kWords));
  for (const std::vector<std::string>& held_or_not_asked :
       {std::vector<std::string>{"--validation-fraction", "0.5"}, {"--holdout", "0"}}) {
    REQUIRE(files.run(line + held_or_not_asked).code == 0);
    CHECK(!contains(files.read("result/summary.json"), kWords));
  }
}

TEST_CASE("clean: held-out rows choose how long, and the run is repeated with all validation rows") {
  const Workspace files;
  const std::vector<std::string> line = picture_cleaning(files);
  REQUIRE(files.run(line + std::vector<std::string>{"--holdout", "0.5"}).code == 0);
  const Json refitted = Json::parse(files.read("result/summary.json"));
  const std::string refitted_upper = files.read("result/upper.npy");
  const std::int64_t chosen = refitted["delivered_iteration"];
  REQUIRE(chosen > 0);
  CHECK(refitted["refit"]["iterations"] == chosen);
  CHECK(line_count(files.read("result/trace_refit.csv")) == static_cast<std::size_t>(chosen) + 2);

  // The same as a run that was told to hold nothing out and how long to go on.
  std::vector<std::string> whole = line + std::vector<std::string>{"--holdout", "0"};
  *(std::find(whole.begin(), whole.end(), "--iterations") + 1) = std::to_string(chosen);
  REQUIRE(files.run(whole).code == 0);
  CHECK(files.read("result/upper.npy") == refitted_upper);

  REQUIRE(files.run(line + std::vector<std::string>{"--holdout", "0.5", "--after-holdout", "keep"}).code ==
          0);
  const Json kept = Json::parse(files.read("result/summary.json"));
  CHECK_FALSE(kept.contains("refit"));
  CHECK(kept["delivered_iteration"] == chosen);
  CHECK(files.read("result/upper.npy") != refitted_upper);
}

TEST_CASE("clean: no iteration just evaluates") {
  const Workspace files;
  std::vector<std::string> line = picture_cleaning(files);
  *(std::find(line.begin(), line.end(), "--iterations") + 1) = "0";
  const Outcome outcome = files.run(line);
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  const Json summary = Json::parse(files.read("result/summary.json"));
  CHECK(summary["status"] == "iteration_limit");
  CHECK(summary["iterations"] == 0);
  CHECK(summary["delivered_iteration"] == 0);
  CHECK(summary["metrics"]["upper_change_max"] == 0);
  CHECK(summary["metrics"]["value_function"] == summary["metrics"]["value_function_start"]);
  CHECK(summary["metrics"].contains("test_accuracy_delivered"));
  CHECK(summary["metrics"]["effective_training_rows"] == 28);
  CHECK(line_count(files.read("result/suspects.csv")) == 1 + 28);
}

TEST_CASE("signs of life: reading large files and measuring, where progress is shown") {
  const Workspace files;
  const std::string large = files.write("large.libsvm", libsvm_rows(20000, 5, 1));
  const std::string small = files.write("small.libsvm", libsvm_rows(40, 5, 2));
  REQUIRE(files.read("large.libsvm").size() > (1U << 20));
  const std::vector<std::string> line{"tune", "--train",      large, "--test", small,   "--workers",
                                      "2",    "--iterations", "2",   "--out",  "result"};
  const Outcome shown = files.run(line);
  INFO(shown.err);
  REQUIRE(shown.code == 0);
  CHECK(contains(shown.err, "reading " + large + "\n"));
  CHECK(!contains(shown.err, "reading " + small));
  CHECK(contains(shown.err, "measuring"));
  CHECK(!contains(shown.out, "reading"));
  const Outcome hidden = files.run(line + std::vector<std::string>{"--progress", "none"});
  CHECK(!contains(hidden.err, "reading"));
  CHECK(!contains(hidden.err, "measuring"));
}
