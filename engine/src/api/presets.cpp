// The published settings: the paper's (its table of step sizes and "Details of experiments") and, where they
// differ, those of its authors' code; and those of other methods in a published benchmark.

#include <algorithm>
#include <array>
#include <utility>

#include "adbo/option_table.h"

namespace adbo {
namespace {

using Values = std::vector<std::pair<std::string_view, std::string_view>>;

Values joined(Values first, const Values& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// The rows of the paper's table of step sizes. The paper does not give eta_phi; its code takes eta_y.
struct Steps {
  std::string_view upper_local, lower_local, upper_consensus, lower_consensus, cut_multiplier, consensus_dual;
};

Values step_values(const Steps& steps) {
  return {{"steps", "fixed"},
          {"step_upper_local", steps.upper_local},
          {"step_lower_local", steps.lower_local},
          {"step_upper_consensus", steps.upper_consensus},
          {"step_lower_consensus", steps.lower_consensus},
          {"step_cut_multiplier", steps.cut_multiplier},
          {"step_consensus_dual", steps.consensus_dual},
          {"step_lower_dual", steps.lower_local}};
}

constexpr Steps kCleaningSteps{"0.001", "0.02", "0.001", "0.02", "0.1", "0.001"};
constexpr Steps kCovtypeSteps{"0.01", "0.02", "0.01", "0.02", "0.1", "0.01"};
constexpr Steps kIjcnn1Steps{"0.01", "0.005", "0.01", "0.005", "0.1", "0.01"};
constexpr Steps kAustralianSteps{"0.001", "0.02", "0.001", "0.02", "5", "0.001"};

/// What the paper prescribes for every experiment: full copies of the upper variable and the regularization
/// of Theorem 2. K, k_pre, M, mu and epsilon are not in the paper: they keep the table's defaults.
Values paper_values(const Steps& steps, std::string_view active, std::string_view staleness) {
  return joined({{"method", "adbo"},
                 {"active_workers", active},
                 {"max_staleness", staleness},
                 {"clock", "virtual"},
                 {"delay", "lognormal:3.5,1"},
                 {"consensus", "full"},
                 {"lower_rounds", "1"},
                 {"regularization", "decaying"}},
                step_values(steps));
}

/// What both published programs do alike (docs/method.md says what each value means).
Values code_values(const Steps& steps, std::string_view active) {
  return joined({{"method", "adbo"},
                 {"active_workers", active},
                 {"max_staleness", "15"},
                 {"clock", "virtual"},
                 {"delay", "lognormal:3.4011973816621555,1"},  // a median of 30 ms
                 {"consensus", "full"},
                 {"regularization", "constant"},
                 {"lower_rounds", "1"},
                 {"cut_interval", "50"},
                 {"cut_phase", "from-start"},
                 {"cut_rule", "always"},
                 {"lower_tolerance", "0"},
                 {"drop_rule", "below-threshold"},
                 {"cut_barrier", "restart"},
                 {"max_cuts", "1000"}},
                step_values(steps));
}

Values paper_task_values(std::string_view task) {
  if (task == "clean") {
    return {{"split", "shard-tail"}, {"validation_fraction", "0.5"},
            {"holdout", "0"},        {"shard_weights", "equal"},
            {"ridge", "0.001"},      {"corrupt_rule", "other-class"},
            {"start", "zero"}};
  }
  return {{"split", "shard-tail"}, {"validation_fraction", "0.5"},
          {"holdout", "0"},        {"shard_weights", "equal"},
          {"model", "logistic"},   {"parametrization", "linear"},
          {"penalty_factor", "1"}, {"bounds", "none"},
          {"start", "zero"}};
}

Preset paper_preset(std::string_view name, std::string_view task, std::string_view sentence,
                    std::int64_t num_workers, Values values) {
  return {name, task, sentence, num_workers, std::move(values), paper_task_values(task)};
}

/// The hyper-cleaning program of the paper's authors.
Preset code_mnist() {
  return {
      "code/mnist",
      "clean",
      "Hyper-cleaning as the authors' published code runs it on MNIST and Fashion-MNIST: N=18, S=9, tau=15.",
      18,
      joined(code_values(kCleaningSteps, "9"), {{"seed", "34"},
                                                {"lower_penalty", "1"},
                                                {"cut_regularization", "0.04"},
                                                {"dual_regularization", "0.002"},
                                                {"lower_round_order", "dual-first"},
                                                {"cut_gradient", "local-frozen"}}),
      {{"split", "shard-tail"},
       {"validation_fraction", "0.5"},
       {"holdout", "0"},
       {"scale", "mnist-code"},
       {"corrupt_rule", "count-shift"},
       {"start", "code-clean"},
       {"shard_weights", "equal"},
       {"ridge", "0.001"}}};
}

/// The coefficient program of the paper's authors. 0.011363636363636364 = 1 / (2 * 22 * 2): half the mean
/// over the entries of psi_j w_jc^2.
Preset code_ijcnn1() {
  return {
      "code/ijcnn1",
      "tune",
      "Regularization coefficients as the authors' published code runs them on ijcnn1: N=24, S=12, tau=15.",
      24,
      joined(code_values(kIjcnn1Steps, "12"), {{"seed", "77"},
                                               {"lower_penalty", "5"},
                                               {"cut_regularization", "0.005"},
                                               {"dual_regularization", "0.01"},
                                               {"lower_round_order", "consensus-first"},
                                               {"cut_gradient", "local"}}),
      {{"split", "shard-tail"},
       {"validation_fraction", "0.5"},
       {"holdout", "0"},
       {"pool_rows", "120000"},
       {"scale", "none"},
       {"start", "code-tune"},
       {"shard_weights", "equal"},
       {"model", "softmax"},
       {"per_class", "false"},
       {"parametrization", "linear"},
       {"bounds", "none"},
       {"penalty_factor", "0.011363636363636364"}}};
}

/// The stochastic methods as the benchmark of SABA's authors runs them on ijcnn1
/// (github.com/benchopt/benchmark_bilevel, config/ijcnn1_best_params.yml): one worker, batches of 64,
/// constant steps (soba's fall with 1 / sqrt(t)), the best of a grid of 25; step_upper is its step_size /
/// outer_ratio. Neither bounds nor a limit of the moves; an evaluation follows 131,072 iterations, which are
/// one run here.
Preset benchopt_ijcnn1(std::string_view name, std::string_view sentence, std::string_view method,
                       std::string_view step_lower, std::string_view step_upper, const Values& own) {
  return {name,
          "tune",
          sentence,
          1,
          joined({{"method", method},
                  {"batch_rows", "64"},
                  {"step_lower", step_lower},
                  {"step_upper", step_upper},
                  {"move_limit", "0"},
                  {"iterations", "131072"}},
                 own),
          {{"scale", "none"},
           {"model", "logistic"},
           {"parametrization", "exp"},
           {"bounds", "none"},
           {"penalty_factor", "0.5"},
           {"start", "zero"}}};
}

std::vector<Preset> benchopt_presets() {
  const Values ten_steps{{"lower_steps", "10"}, {"adjoint_steps", "10"}};
  return {
      benchopt_ijcnn1("benchopt/ijcnn1-amigo", "AmIGO on ijcnn1 as in the benchmark of SABA's authors: N=1.",
                      "amigo", "0.125", "0.3952847075210474", ten_steps),
      benchopt_ijcnn1("benchopt/ijcnn1-saba", "SABA on ijcnn1 as in its authors' benchmark: N=1.", "saba",
                      "0.125", "0.125", {}),
      benchopt_ijcnn1("benchopt/ijcnn1-soba", "SOBA on ijcnn1 as in its authors' benchmark: N=1.", "soba",
                      "0.03125", "3.125", {{"step_decay", "0.5"}}),
      benchopt_ijcnn1("benchopt/ijcnn1-stocbio",
                      "stocBiO on ijcnn1 as in the benchmark of SABA's authors: N=1.", "stocbio", "0.125",
                      "0.125", ten_steps),
      // Its period is half of the batches of both files: (49,990 + 91,701) / 64 / 2.
      benchopt_ijcnn1("benchopt/ijcnn1-vrbo", "VRBO on ijcnn1 as in the benchmark of SABA's authors: N=1.",
                      "vrbo", "0.0625", "0.0625", joined(ten_steps, {{"vrbo_period", "1106"}})),
  };
}

std::vector<Preset> build_presets() {
  std::vector<Preset> all = {
      paper_preset("paper/mnist", "clean", "Hyper-cleaning on MNIST as in the paper: N=18, S=9, tau=15.", 18,
                   paper_values(kCleaningSteps, "9", "15")),
      paper_preset("paper/fashion-mnist", "clean",
                   "Hyper-cleaning on Fashion-MNIST as in the paper: N=18, S=9, tau=15.", 18,
                   paper_values(kCleaningSteps, "9", "15")),
      paper_preset("paper/cifar10", "clean", "Hyper-cleaning on CIFAR-10 as in the paper: N=18, S=9, tau=5.",
                   18, paper_values(kCleaningSteps, "9", "5")),
      paper_preset("paper/covtype", "tune",
                   "Regularization coefficients on Covertype as in the paper: N=18, S=9, tau=15.", 18,
                   paper_values(kCovtypeSteps, "9", "15")),
      paper_preset("paper/ijcnn1", "tune",
                   "Regularization coefficients on IJCNN1 as in the paper: N=24, S=12, tau=15.", 24,
                   paper_values(kIjcnn1Steps, "12", "15")),
      paper_preset("paper/australian", "tune",
                   "Regularization coefficients on Australian as in the paper: N=4, S=2, tau=5.", 4,
                   paper_values(kAustralianSteps, "2", "5")),
      code_mnist(),
      code_ijcnn1(),
  };
  for (Preset& preset : benchopt_presets()) all.push_back(std::move(preset));
  return all;
}

}  // namespace

std::span<const Preset> presets() {
  static const std::vector<Preset> all = build_presets();
  return all;
}

const Preset* find_preset(std::string_view name) {
  const auto found = std::find_if(presets().begin(), presets().end(),
                                  [name](const Preset& preset) { return preset.name == name; });
  return found == presets().end() ? nullptr : &*found;
}

}  // namespace adbo
