// The figures of the paper, measured here: for each a comparison, its report page, and whether the paper's
// order of the methods holds. One command: adbo_paper_figures ADBO DATA OUT.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <span>
#include <string_view>

#include "figures.h"
#include "machine.h"
#include "verdict.h"
#include "words.h"

namespace adbo::bench {
namespace {

constexpr std::string_view kUsage =
    "usage: adbo_paper_figures ADBO DATA OUT [--repeat R] [--fashion-mnist FOLDER] [--only FIGURE]...\n"
    "  ADBO: the adbo command; DATA: the folder with mnist, cifar10, covtype, ijcnn1, australian;\n"
    "  OUT: gets paper.md and a folder per comparison, with its table and report.html.\n"
    "  figures: mnist, fashion-mnist, cifar10, covtype, ijcnn1, australian, covtype-centralized,\n"
    "  ijcnn1-centralized\n";

constexpr std::string_view kFashionMnist = "/usr/share/datasets/fashion-mnist";

struct Arguments {
  std::filesystem::path program, out;
  DataFolders folders;
  std::string repeat;
  std::vector<std::string> only;
};

Arguments parse(std::span<char* const> given) {
  constexpr std::array<std::string_view, 3> kOptions{"--repeat", "--fashion-mnist", "--only"};
  const CommandWords words = read_words(given, kOptions, 3, kUsage);
  return {
      .program = words.places[0],
      .out = words.places[2],
      .folders = {.data = words.places[1], .fashion_mnist = words.value("--fashion-mnist", kFashionMnist)},
      .repeat = words.value("--repeat", "3"),
      .only = words.values("--only")};
}

/// The comparison's traces, method by method.
std::vector<MethodTraces> compare(const Arguments& arguments, const PaperFigure& figure,
                                  const std::filesystem::path& folder, const std::vector<std::string>& more) {
  std::vector<std::string> words{arguments.program.string(), "compare"};
  words.insert(words.end(), figure.arguments.begin(), figure.arguments.end());
  words.insert(words.end(), more.begin(), more.end());
  words.insert(words.end(), {"--methods", fmt::format("{}", fmt::join(figure.order, ",")), "--repeat",
                             arguments.repeat, "--quiet", "--out", folder.string()});
  fmt::print(stderr, "{}\n", fmt::join(words, " "));
  run_program(words);
  run_program({arguments.program.string(), "report", folder.string()});
  std::vector<MethodTraces> traces;
  for (const std::string& method : figure.order) {
    MethodTraces& one = traces.emplace_back(MethodTraces{.method = method, .repeats = {}});
    for (int r = 1; r <= std::atoi(arguments.repeat.c_str()); ++r) {
      one.repeats.push_back(read_trace(folder / fmt::format("{}-{}", method, r) / "trace.csv"));
    }
  }
  return traces;
}

std::string shown(double value) { return std::isnan(value) ? "never" : fmt::format("{:.4g}", value); }

/// The table of times, and the verdict.
std::string section(const PaperFigure& figure, std::string_view with, const std::vector<LevelTimes>& levels) {
  std::string text =
      fmt::format("\n**{}{}** ({})\n\n| of the way | test loss |", figure.title, with, figure.clock);
  for (const std::string& method : figure.order) text += fmt::format(" {} |", method);
  text += "\n|---|---|";
  for (std::size_t k = 0; k < figure.order.size(); ++k) text += "---|";
  for (const LevelTimes& level : levels) {
    text += fmt::format("\n| {:.0f} % | {:.4g} |", 100 * level.part, level.level);
    for (const double time : level.times) text += fmt::format(" {} |", shown(time));
  }
  const std::string_view claim =
      figure.claim == Claim::kEachBeforeNext ? "each before the next" : "the first before each of the others";
  return text + fmt::format("\n\nClaim, {}: {}: **{}**\n", claim, fmt::join(figure.order, ", "),
                            verdict(levels, figure.claim));
}

/// Times with stragglers over times without, to the same part of the way.
std::string straggler_section(const PaperFigure& figure, const std::vector<LevelTimes>& without,
                              const std::vector<LevelTimes>& with) {
  std::string text = "\nTime with 3 stragglers over time without:";
  for (std::size_t k = 0; k < figure.order.size(); ++k) {
    std::vector<std::string> ratios;
    for (std::size_t level = 0; level < without.size(); ++level) {
      ratios.push_back(shown(with[level].times[k] / without[level].times[k]));
    }
    text += fmt::format("{} {} {}", k == 0 ? "" : ";", figure.order[k], fmt::join(ratios, ", "));
  }
  return text + "\n";
}

int run(const Arguments& arguments) {
  std::filesystem::create_directories(arguments.out);
  const std::filesystem::path path = arguments.out / "paper.md";
  std::ofstream out(path);
  out << fmt::format("Medians over {} repeats; {}; {}.\n", arguments.repeat, machine(), today());
  for (const PaperFigure& figure : paper_figures(arguments.folders)) {
    const auto& only = arguments.only;
    if (!only.empty() && std::find(only.begin(), only.end(), figure.name) == only.end()) continue;
    const auto missing = std::find_if(figure.needs.begin(), figure.needs.end(),
                                      [](const auto& file) { return !std::filesystem::exists(file); });
    if (missing != figure.needs.end()) {
      fmt::print(stderr, "{}: left out, {} is not there\n", figure.name, missing->string());
      continue;
    }
    const auto levels =
        times_to_levels(compare(arguments, figure, arguments.out / figure.name, {}), figure.clock);
    out << section(figure, "", levels);
    if (figure.has_stragglers) {
      const auto slow = times_to_levels(
          compare(arguments, figure, arguments.out / (figure.name + "-stragglers"), {"--stragglers", "3:4"}),
          figure.clock);
      out << section(figure, ", 3 stragglers of 4 times the delay", slow)
          << straggler_section(figure, levels, slow);
    }
    out.flush();
  }
  fmt::print("{}\n", path.string());
  return 0;
}

}  // namespace
}  // namespace adbo::bench

int main(int argc, char** argv) {
  try {
    return adbo::bench::run(adbo::bench::parse(std::span<char* const>(argv + 1, argv + argc)));
  } catch (const std::exception& error) {
    fmt::print(stderr, "adbo_paper_figures: {}\n", error.what());
    return 1;
  }
}
