#include "figures.h"

namespace adbo::bench {
namespace {

using Words = std::vector<std::string>;
namespace fs = std::filesystem;

const Words kDistributed{"adbo", "sdbo", "fednest"};
const Words kCentralized{"cpbo", "stocbio", "stable", "vrbo", "aid-cg"};

Words operator+(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// An iteration of FedNest is 14 rounds: as many iterations as take about as long.
const Words kLengths{"--iterations", "1500", "--set", "fednest.iterations=150", "--evaluate-every", "10"};

/// The paper gives no steps for FedNest: it has those of the paper's table for x and y.
struct PaperSteps {
  std::string upper, lower;
};

Words fednest_steps(const PaperSteps& steps) {
  return {"--set", "fednest.step_upper=" + steps.upper, "--set", "fednest.step_lower=" + steps.lower};
}

Words image_files(const fs::path& folder) {
  return {"--train",        (folder / "train-images-idx3-ubyte.gz").string(),
          "--train-labels", (folder / "train-labels-idx1-ubyte.gz").string(),
          "--test",         (folder / "t10k-images-idx3-ubyte.gz").string(),
          "--test-labels",  (folder / "t10k-labels-idx1-ubyte.gz").string()};
}

PaperFigure distributed(const std::string& name, const std::string& problem, const Words& files,
                        fs::path needs, const PaperSteps& steps) {
  return {.name = name,
          .title = name + ": adbo, sdbo, fednest",
          .arguments = Words{"--problem", problem, "--preset", "paper/" + name} + files + kLengths +
                       fednest_steps(steps),
          .order = kDistributed,
          .clock = "virtual_seconds",
          .needs = {std::move(needs)},
          .has_stragglers = true};
}

PaperFigure cleaning(const std::string& name, const Words& files, fs::path needs) {
  return distributed(name, "clean", files + Words{"--corrupt", "0.4"}, std::move(needs), {"0.001", "0.02"});
}

/// CPBO against the centralized methods: one worker with all rows, time that is spent computing. The paper
/// gives no steps for them: every method's are searched for with the same budget.
PaperFigure centralized(const std::string& name, const Words& files, fs::path needs) {
  return {.name = name + "-centralized",
          .title = name + ": cpbo against stocbio, stable, vrbo, aid-cg",
          .arguments =
              Words{"--problem", "tune", "--workers", "1", "--executor", "inline", "--parametrization", "exp",
                    "--clock", "virtual", "--iterations", "500", "--evaluate-every", "5", "--search", "8"} +
              files,
          .order = kCentralized,
          .claim = Claim::kFirstBeforeOthers,
          .clock = "cpu_seconds",
          .needs = {std::move(needs)}};
}

}  // namespace

std::vector<PaperFigure> paper_figures(const DataFolders& folders) {
  const fs::path mnist = folders.data / "mnist", cifar = folders.data / "cifar10",
                 covtype = folders.data / "covtype/covtype.random20000.csv.gz",
                 ijcnn1 = folders.data / "ijcnn1/ijcnn1.gz",
                 ijcnn1_test = folders.data / "ijcnn1/ijcnn1.t.gz",
                 australian = folders.data / "australian/australian.libsvm",
                 covtype_test = folders.data / "covtype/covtype.first20000.csv.gz";
  const Words covtype_files{"--train", covtype.string(),   "--test", covtype_test.string(), "--label-column",
                            "-1",      "--positive-class", "2"};
  const Words ijcnn1_files{"--train", ijcnn1.string(), "--test", ijcnn1_test.string(), "--scale", "none"};
  // No test rows are published for Australian: its training file tests too, which says so much the less.
  const Words australian_files{"--train", australian.string(), "--test", australian.string()};
  return {cleaning("mnist", image_files(mnist), mnist / "train-images-idx3-ubyte.gz"),
          cleaning("fashion-mnist", image_files(folders.fashion_mnist),
                   folders.fashion_mnist / "train-images-idx3-ubyte.gz"),
          cleaning("cifar10",
                   {"--train", (cifar / "data_batch_1.bin.gz").string(), "--test",
                    (cifar / "test_batch.bin.gz").string()},
                   cifar / "data_batch_1.bin.gz"),
          distributed("covtype", "tune", covtype_files, covtype, {"0.01", "0.02"}),
          distributed("ijcnn1", "tune", ijcnn1_files, ijcnn1, {"0.01", "0.005"}),
          distributed("australian", "tune", australian_files, australian, {"0.001", "0.02"}),
          centralized("covtype", covtype_files, covtype),
          centralized("ijcnn1", ijcnn1_files, ijcnn1)};
}

}  // namespace adbo::bench
