#include "tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace adbo::bench {
namespace {

using Words = std::vector<std::string>;
constexpr double kNever = std::numeric_limits<double>::quiet_NaN();

Words operator+(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// Enough for the cleaning tasks to come to the accuracy asked for.
const Words kFirstIterations{"--resolve-every", "10", "--iterations", "60"};
const Words kDelays{"--clock", "virtual", "--delay", "lognormal:3.5,1"};

Measure metric(std::string name, std::optional<double> target = {}, bool at_least = true) {
  const auto value = [name](const CommandRun& run) {
    const auto found = run.metrics.find(name);
    return found == run.metrics.end() ? kNever : found->second;
  };
  return {std::move(name), value, target, at_least};
}

/// By how much one metric exceeds the larger of others.
Measure excess(std::string title, std::string name, std::vector<std::string> others, double target) {
  return {std::move(title),
          [name = std::move(name), others = std::move(others)](const CommandRun& run) {
            double best = -std::numeric_limits<double>::infinity();
            for (const std::string& other : others) best = std::max(best, run.metrics.at(other));
            return run.metrics.at(name) - best;
          },
          target, true};
}

std::function<double(const CommandRun&)> time_to(std::string clock, std::string column, double level,
                                                 bool rising) {
  return [=](const CommandRun& run) { return bench::time_to(run.trace, clock, column, level, rising); };
}

Words images(const std::filesystem::path& folder) {
  return {"--train",        (folder / "train-images-idx3-ubyte.gz").string(),
          "--train-labels", (folder / "train-labels-idx1-ubyte.gz").string(),
          "--test",         (folder / "t10k-images-idx3-ubyte.gz").string(),
          "--test-labels",  (folder / "t10k-labels-idx1-ubyte.gz").string()};
}

Words cleaning(const Words& data, const char* noise, const char* validation, const char* workers,
               const char* active) {
  return Words{"clean"} + data +
         Words{"--corrupt", noise, "--validation-fraction", validation, "--workers", workers,
               "--active",  active} +
         kDelays;
}

const Measure kAucAbovePlain =
    excess("AUC of the score above the plain loss ranking", "detection_auc", {"detection_auc_plain"}, 0);
const Measure kAccuracyAboveBoth =
    excess("accuracy delivered above both alternatives", "test_accuracy_delivered",
           {"test_accuracy_start", "test_accuracy_validation_only"}, 0);

std::vector<Measure> with_context(std::vector<Measure> measures) {
  for (const char* name : {"test_accuracy_delivered", "test_accuracy_retrained", "test_accuracy_start",
                           "test_accuracy_validation_only", "test_accuracy_true_mask", "detection_auc",
                           "detection_auc_weight", "detection_auc_plain", "iterations", "cpu_seconds"}) {
    const bool there =
        std::any_of(measures.begin(), measures.end(), [name](const Measure& m) { return m.name == name; });
    if (!there) measures.push_back(metric(name));
  }
  return measures;
}

Task fashion_few(const DataFolders& folders) {
  Task task{.name = "fashion-mnist-few",
            .title = "Fashion-MNIST, noise 0.4, 5 % validation rows, N = 18, S = 9",
            .arguments = cleaning(images(folders.fashion_mnist), "0.4", "0.05", "18", "9"),
            .needs = {folders.fashion_mnist / "train-images-idx3-ubyte.gz"},
            .measures = {}};
  task.measures = with_context({metric("test_accuracy_delivered", 0.837), metric("detection_auc", 0.987),
                                metric("detection_auc_weight", 0.965), kAucAbovePlain});
  task.timing_arguments = kFirstIterations;
  task.timing_measures = {{"CPU seconds to retrained accuracy 0.830",
                           time_to("cpu_seconds", "test_accuracy_retrained", 0.830, true), 15, false}};
  task.straggler_time =
      Measure{"virtual seconds to retrained accuracy 0.830, with 3 stragglers / without",
              time_to("virtual_seconds", "test_accuracy_retrained", 0.830, true), 1.3, false};
  return task;
}

Task fashion_half(const DataFolders& folders) {
  return {.name = "fashion-mnist-half",
          .title = "Fashion-MNIST, noise 0.4, 50 % validation rows (the paper's split), N = 18, S = 9",
          .arguments = cleaning(images(folders.fashion_mnist), "0.4", "0.5", "18", "9"),
          .needs = {folders.fashion_mnist / "train-images-idx3-ubyte.gz"},
          .measures = with_context(
              {metric("test_accuracy_retrained", 0.836), metric("detection_auc", 0.985), kAucAbovePlain}),
          .timing_arguments = kFirstIterations,
          .timing_measures = {{"CPU seconds to retrained accuracy 0.830",
                               time_to("cpu_seconds", "test_accuracy_retrained", 0.830, true), 10, false}}};
}

Task mnist(const DataFolders& folders) {
  return {.name = "mnist",
          .title = "MNIST, noise 0.4, 5 % validation rows, N = 18, S = 9",
          .arguments = cleaning(images(folders.data / "mnist"), "0.4", "0.05", "18", "9"),
          .needs = {folders.data / "mnist/train-images-idx3-ubyte.gz"},
          .measures = with_context({excess("accuracy delivered above the true mask",
                                           "test_accuracy_delivered", {"test_accuracy_true_mask"}, -0.005),
                                    metric("detection_auc", 0.99), kAucAbovePlain})};
}

Task cifar10(const DataFolders& folders) {
  const std::filesystem::path folder = folders.data / "cifar10";
  return {.name = "cifar10",
          .title = "CIFAR-10 (one batch), noise 0.4, 10 % validation rows, N = 18, S = 9",
          .arguments = cleaning({"--train", (folder / "data_batch_1.bin.gz").string(), "--test",
                                 (folder / "test_batch.bin.gz").string()},
                                "0.4", "0.1", "18", "9"),
          .needs = {folder / "data_batch_1.bin.gz"},
          .measures = with_context({kAccuracyAboveBoth, kAucAbovePlain})};
}

Task table(const DataFolders& folders, const std::string& name, const std::string& stem) {
  const std::filesystem::path train = folders.data / name / (stem + ".gz");
  return {.name = name,
          .title = name + ", noise 0.3, 5 % validation rows, N = 8, S = 4",
          .arguments = cleaning(
              {"--train", train.string(), "--test", (folders.data / name / (stem + ".t.gz")).string()}, "0.3",
              "0.05", "8", "4"),
          .needs = {train},
          .measures = with_context({kAccuracyAboveBoth, kAucAbovePlain})};
}

/// The reference values are those of docs/reference-values.md.
Task ijcnn1(const DataFolders& folders) {
  constexpr double kReference = 0.20389373;
  const std::filesystem::path folder = folders.data / "ijcnn1";
  Task task{.name = "ijcnn1",
            .title = "ijcnn1, coefficients exp(psi), psi in [-12, 12], N = 24, S = 12; F* = 0.20389373",
            .arguments = Words{"tune", "--train", (folder / "ijcnn1.gz").string(), "--validation",
                               (folder / "ijcnn1.t.gz").string(), "--scale", "none", "--workers", "24",
                               "--active", "12"} +
                         kDelays,
            .needs = {folder / "ijcnn1.gz", folder / "ijcnn1.t.gz"},
            .measures = {}};
  for (const auto& [level, seconds] : {std::pair{1e-2, 0.7}, {1e-3, 2.0}, {1e-4, 5.0}}) {
    task.timing_measures.push_back({fmt::format("CPU seconds to F - F* <= {:.0e}", level),
                                    time_to("cpu_seconds", "value_function", kReference + level, false),
                                    seconds, false});
  }
  task.measures.push_back({"F - F* at the end", [](const CommandRun& run) {
                             return run.metrics.at("value_function") - kReference;
                           }});
  task.measures.push_back(metric("iterations"));
  task.measures.push_back(metric("cpu_seconds"));
  task.timing_arguments = {"--resolve-every", "10"};
  task.straggler_time =
      Measure{"virtual seconds to F - F* <= 1e-3, with 3 stragglers / without",
              time_to("virtual_seconds", "value_function", kReference + 1e-3, false), 1.3, false};
  return task;
}

Task coefficients(const DataFolders& folders, const std::string& name, const std::string& file,
                  const Words& more, double reference) {
  const std::filesystem::path train = folders.data / name / file;
  return {.name = name,
          .title = fmt::format("{}, coefficients, half of the rows validate; F* = {}", name, reference),
          .arguments = Words{"tune", "--train", train.string()} + more + kDelays,
          .needs = {train},
          .measures = {{"(F - F*) / (F(start) - F*)",
                        [reference](const CommandRun& run) {
                          return (run.metrics.at("value_function") - reference) /
                                 (run.metrics.at("value_function_start") - reference);
                        },
                        0.02, false},
                       metric("iterations"),
                       metric("cpu_seconds")}};
}

}  // namespace

std::vector<Task> practical_tasks(const DataFolders& folders) {
  return {fashion_few(folders),
          fashion_half(folders),
          mnist(folders),
          cifar10(folders),
          table(folders, "letter", "letter.scale"),
          table(folders, "pendigits", "pendigits"),
          ijcnn1(folders),
          coefficients(folders, "covtype", "covtype.random20000.csv.gz",
                       {"--label-column", "-1", "--positive-class", "2", "--workers", "18"}, 0.5093204725),
          coefficients(folders, "australian", "australian.libsvm", {"--workers", "4"}, 0.3294637355),
          coefficients(folders, "a9a", "a9a.gz", {"--workers", "18"}, 0.3232725826),
          coefficients(folders, "w8a", "w8a.gz", {"--workers", "18"}, 0.1495663141)};
}

}  // namespace adbo::bench
