// What the practical method reaches with its defaults on real data, beside what is asked of it: one command,
// one table as Markdown and JSON.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <span>
#include <string_view>

#include "report.h"
#include "tasks.h"
#include "words.h"

namespace adbo::bench {
namespace {

constexpr std::string_view kUsage =
    "usage: adbo_practical_table ADBO DATA OUT [--seeds R] [--fashion-mnist FOLDER] [--only TASK]...\n"
    "  ADBO: the adbo command; DATA: the folder with mnist, cifar10, letter, pendigits, ijcnn1, covtype,\n"
    "  australian, a9a, w8a; OUT: gets practical.md, practical.json and the folders of the runs\n";

constexpr std::string_view kFashionMnist = "/usr/share/datasets/fashion-mnist";

struct Arguments {
  std::filesystem::path program, out;
  DataFolders folders{};
  std::size_t seeds = 3;
  std::vector<std::string> only;
};

Arguments parse(std::span<char* const> given) {
  constexpr std::array<std::string_view, 3> kOptions{"--seeds", "--fashion-mnist", "--only"};
  const CommandWords words = read_words(given, kOptions, 3, kUsage);
  Arguments arguments{.program = words.places[0], .out = words.places[2], .only = words.values("--only")};
  arguments.folders.data = words.places[1];
  arguments.folders.fashion_mnist = words.value("--fashion-mnist", kFashionMnist);
  arguments.seeds = static_cast<std::size_t>(std::strtoul(words.value("--seeds", "3").c_str(), nullptr, 10));
  if (arguments.seeds == 0) {
    fmt::print(stderr, "{}", kUsage);
    std::exit(2);
  }
  return arguments;
}

bool is_wanted(const Arguments& arguments, const Task& task) {
  if (!arguments.only.empty() &&
      std::find(arguments.only.begin(), arguments.only.end(), task.name) == arguments.only.end()) {
    return false;
  }
  for (const std::filesystem::path& file : task.needs) {
    if (!std::filesystem::exists(file)) {
      fmt::print(stderr, "{}: left out, {} is not there\n", task.name, file.string());
      return false;
    }
  }
  return true;
}

/// Adds a value per measure to the figures from `first` on.
void add_values(TaskFigures& task, std::size_t first, const std::vector<Measure>& measures,
                const CommandRun& run) {
  for (std::size_t k = 0; k < measures.size(); ++k) {
    task.figures[first + k].values.push_back(measures[k].value(run));
  }
}

TaskFigures run_task(const Arguments& arguments, const Task& task) {
  TaskFigures result{task.title, fmt::format("adbo {}", fmt::join(task.arguments, " ")), {}};
  std::vector<Measure> all = task.measures;
  all.insert(all.end(), task.timing_measures.begin(), task.timing_measures.end());
  if (task.straggler_time) all.push_back(*task.straggler_time);
  for (const Measure& measure : all) {
    result.figures.push_back({measure.name, {}, measure.target, measure.at_least});
  }
  for (std::size_t seed = 1; seed <= arguments.seeds; ++seed) {
    const auto run = [&](std::string_view suffix, const std::vector<std::string>& more) {
      fmt::print(stderr, "{}{}, seed {}\n", task.name, suffix, seed);
      std::vector<std::string> words = task.arguments;
      words.insert(words.end(), {"--seed", std::to_string(seed)});
      words.insert(words.end(), more.begin(), more.end());
      return run_command(arguments.program, words,
                         arguments.out / fmt::format("{}-{}{}", task.name, seed, suffix));
    };
    add_values(result, 0, task.measures, run("", {}));
    if (task.timing_measures.empty()) continue;
    const CommandRun timed = run("-timed", task.timing_arguments);
    add_values(result, task.measures.size(), task.timing_measures, timed);
    if (!task.straggler_time) continue;
    std::vector<std::string> stragglers = task.timing_arguments;
    stragglers.insert(stragglers.end(), {"--stragglers", "3:4"});
    const CommandRun slow = run("-stragglers", stragglers);
    result.figures.back().values.push_back(task.straggler_time->value(slow) /
                                           task.straggler_time->value(timed));
  }
  return result;
}

int run(const Arguments& arguments) {
  std::filesystem::create_directories(arguments.out);
  std::vector<TaskFigures> figures;
  for (const Task& task : practical_tasks(arguments.folders)) {
    if (!is_wanted(arguments, task)) continue;
    figures.push_back(run_task(arguments, task));
    write_report(figures, arguments.seeds, arguments.out);  // what is known is on disk at any time
  }
  fmt::print("{}\n", (arguments.out / "practical.md").string());
  return 0;
}

}  // namespace
}  // namespace adbo::bench

int main(int argc, char** argv) {
  try {
    return adbo::bench::run(adbo::bench::parse(std::span<char* const>(argv + 1, argv + argc)));
  } catch (const std::exception& error) {
    fmt::print(stderr, "adbo_practical_table: {}\n", error.what());
    return 1;
  }
}
