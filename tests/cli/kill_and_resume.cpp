// Runs that are killed (SIGKILL) or stopped (SIGINT, SIGTERM, SIGHUP) at random instants and gone on with,
// again and again now and then: each has to end with the variables, result files, trace and summary of the
// run that was never interrupted. Every method in turn, with mini-batches where it has them, a straggler,
// held-out rows on every second task, a checkpoint every iteration and a re-solve every third; and a
// comparison with a search. A program of its own, so that many kills are a matter of its arguments:
//
//   kill_and_resume [RUNS [SEED]]    runs number SEED, SEED + 1, ...: each depends on its number and on luck
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "adbo/method_table.h"
#include "adbo/option_table.h"
#include "run_command.h"
#include "run_results.h"

namespace {

using adbo::test::Outcome;
using adbo::test::Workspace;
using Words = std::vector<std::string>;

constexpr double kKilledAgain = 0.4;

struct Task {
  const adbo::MethodInfo* method = nullptr;  ///< nullptr: a comparison of some
  bool cleans = false;
  [[nodiscard]] std::string name() const {
    if (method == nullptr) return fmt::format("compare-{}", cleans ? "clean" : "tune");
    return fmt::format("{}-{}", cleans ? "clean" : "tune", method->name);
  }
};

struct Tally {
  int kills = 0, differences = 0;
};

class Killer {
 public:
  explicit Killer(std::uint64_t seed) : random_(seed) {
    train_ = files_.write("train.libsvm", adbo::test::libsvm_rows(160, 6, 1));
    test_ = files_.write("test.libsvm", adbo::test::libsvm_rows(60, 6, 2));
  }

  void run(const Task& task, Tally& tally) {
    const double seconds = straight_seconds(task);
    const std::string killed = "killed-" + task.name();
    std::filesystem::remove_all(files_.path(killed));
    bool is_over = !kill(command(task, killed), seconds, tally);
    while (!is_over && uniform() < kKilledAgain) is_over = !kill({"resume", killed}, seconds, tally);
    // Killed before it had a folder, a run has nothing to go on with.
    const bool has_begun = files_.exists(killed + "/run.json");
    const Outcome last = files_.run(has_begun ? Words{"resume", killed} : command(task, killed));
    const std::string difference = last.code == 0 ? difference_from_straight(task, killed) : last.err;
    if (difference.empty()) return;
    ++tally.differences;
    std::cout << fmt::format("{}: {}\n", task.name(), difference);
  }

 private:
  double uniform() { return static_cast<double>(random_() >> 11) * 0x1.0p-53; }

  /// False: it was over before.
  bool kill(const Words& words, double seconds, Tally& tally) {
    constexpr std::array kSignals{SIGKILL, SIGKILL, SIGINT, SIGTERM, SIGHUP};
    const int signal = kSignals[random_() % kSignals.size()];
    const Outcome outcome = files_.run_and_signal_after(words, signal, uniform() * seconds);
    if (outcome.code != 128 + signal) return false;
    ++tally.kills;
    return true;
  }

  [[nodiscard]] std::string difference_from_straight(const Task& task, const std::string& killed) const {
    return task.method == nullptr ? adbo::test::comparison_difference_of(files_, task.name(), killed)
                                  : adbo::test::difference_of(files_, task.name(), killed);
  }

  [[nodiscard]] Words comparison(const Task& task, const std::string& out) const {
    Words words{"compare",
                "--problem",
                task.cleans ? "clean" : "tune",
                "--methods",
                "auto,adbo,soba,exact,fednest",
                "--search",
                "4",
                "--repeat",
                "2",
                "--set",
                "soba.batch_rows=7"};
    const Words rest = shared_settings(out);
    words.insert(words.end(), rest.begin(), rest.end());
    if (task.cleans) words.insert(words.end(), {"--corrupt", "0.2"});
    return words;
  }

  [[nodiscard]] Words shared_settings(const std::string& out) const {
    return {"--train",
            train_,
            "--test",
            test_,
            "--workers",
            "4",
            "--iterations",
            "60",
            "--clock",
            "virtual",
            "--delay",
            "lognormal:3.5,1",
            "--stragglers",
            "1:4",
            "--checkpoint-every",
            "1",
            "--resolve-every",
            "3",
            "--out",
            out};
  }

  [[nodiscard]] Words command(const Task& task, const std::string& out) const {
    if (task.method == nullptr) return comparison(task, out);
    Words words{task.cleans ? "clean" : "tune", "--method", std::string(task.method->name)};
    const Words rest = shared_settings(out);
    words.insert(words.end(), rest.begin(), rest.end());
    const auto acts = [&](std::string_view name) {
      return adbo::acts_on(*adbo::find_option(name), task.method->method);
    };
    if (acts("batch_rows")) words.insert(words.end(), {"--batch-rows", "7"});
    if (acts("cut_interval")) words.insert(words.end(), {"--cut-interval", "5"});
    if (task.cleans) words.insert(words.end(), {"--corrupt", "0.2", "--patience", "0"});
    return words;
  }

  /// Wall time of the run that nobody interrupts, which stays in the folder of its name.
  double straight_seconds(const Task& task) {
    const auto found = seconds_.find(task.name());
    if (found != seconds_.end()) return found->second;
    const auto begin = std::chrono::steady_clock::now();
    const Outcome outcome = files_.run(command(task, task.name()));
    if (outcome.code != 0) throw std::runtime_error(task.name() + ": " + outcome.err);
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    return seconds_[task.name()] = passed.count();
  }

  Workspace files_;
  std::string train_, test_;
  std::mt19937_64 random_;
  std::map<std::string, double> seconds_;
};

std::vector<Task> all_tasks() {
  std::vector<Task> tasks;
  for (const bool cleans : {false, true}) tasks.push_back({nullptr, cleans});
  for (const adbo::MethodInfo& info : adbo::method_table()) {
    if (info.method == adbo::Method::kAuto) continue;
    tasks.push_back({&info, false});
    tasks.push_back({&info, true});
  }
  return tasks;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t runs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 50;
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  const std::vector<Task> tasks = all_tasks();
  Killer killer(seed);
  Tally tally;
  for (std::uint64_t k = 0; k < runs; ++k) killer.run(tasks[(seed + k) % tasks.size()], tally);
  std::cout << fmt::format("{} runs of {} tasks, {} kills; {} differences\n", runs, tasks.size(), tally.kills,
                           tally.differences);
  return tally.differences == 0 ? 0 : 1;
}
