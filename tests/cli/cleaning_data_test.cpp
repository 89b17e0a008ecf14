// What `adbo clean` is worth on real data with made-up label noise. Skipped, with a message, where the data
// are not there.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "run_command.h"

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Arguments = std::vector<std::string>;

fs::path directory(const char* variable, const fs::path& otherwise) {
  const char* value = std::getenv(variable);
  return value != nullptr ? fs::path(value) : otherwise;
}

fs::path data_directory() {
  return directory("ADBO_DATA_DIR", fs::path(ADBO_SOURCE_DIR) / ".." / "shared" / "data");
}

/// Files, noise and workers; everything else is a default.
struct Task {
  std::string name;
  fs::path folder;
  std::string train, train_labels, test, test_labels;
  std::string corrupt, validation_fraction, workers, iterations;
};

std::vector<Task> tasks() {
  const fs::path data = data_directory();
  const std::string images = "train-images-idx3-ubyte.gz", labels = "train-labels-idx1-ubyte.gz",
                    test_images = "t10k-images-idx3-ubyte.gz", test_labels = "t10k-labels-idx1-ubyte.gz";
  return {
      {"pendigits", data / "pendigits", "pendigits.gz", "", "pendigits.t.gz", "", "0.3", "0.05", "8", "300"},
      {"letter", data / "letter", "letter.scale.gz", "", "letter.scale.t.gz", "", "0.3", "0.05", "8", "300"},
      {"CIFAR-10", data / "cifar10", "data_batch_1.bin.gz", "", "test_batch.bin.gz", "", "0.4", "0.1", "18",
       "60"},
      {"MNIST", data / "mnist", images, labels, test_images, test_labels, "0.4", "0.05", "18", "60"},
      {"Fashion-MNIST", directory("ADBO_FASHION_MNIST_DIR", "/usr/share/datasets/fashion-mnist"), images,
       labels, test_images, test_labels, "0.4", "0.05", "18", "60"}};
}

Arguments command_line(const Task& task) {
  Arguments line{"clean",
                 "--method",
                 "async-hypergradient",
                 "--clock",
                 "virtual",
                 "--delay",
                 "lognormal:3.5,1",
                 "--train",
                 (task.folder / task.train).string(),
                 "--test",
                 (task.folder / task.test).string(),
                 "--corrupt",
                 task.corrupt,
                 "--validation-fraction",
                 task.validation_fraction,
                 "--workers",
                 task.workers,
                 "--iterations",
                 task.iterations,
                 "--out",
                 "result"};
  if (!task.train_labels.empty()) {
    line.insert(line.end(), {"--train-labels", (task.folder / task.train_labels).string(), "--test-labels",
                             (task.folder / task.test_labels).string()});
  }
  return line;
}

}  // namespace

TEST_CASE("clean, real data: the score finds wrong labels no worse than plain training") {
  for (const Task& task : tasks()) {
    INFO(task.name);
    if (!fs::exists(task.folder / task.train)) {
      MESSAGE("no " << task.name << " in " << task.folder.string() << ": skipped");
      continue;
    }
    const adbo::test::Workspace files;
    const adbo::test::Outcome outcome = files.run(command_line(task));
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    const Json metrics = Json::parse(files.read("result/summary.json"))["metrics"];
    const auto value = [&](const char* name) { return metrics[name].get<double>(); };
    MESSAGE(task.name << ": AUC " << value("detection_auc") << ", plain " << value("detection_auc_plain")
                      << "; accuracy delivered " << value("test_accuracy_delivered") << ", plain "
                      << value("test_accuracy_start") << ", validation only "
                      << value("test_accuracy_validation_only"));
    CHECK(value("detection_auc") >= value("detection_auc_plain"));
    CHECK(value("test_accuracy_delivered") > value("test_accuracy_start"));
  }
}
