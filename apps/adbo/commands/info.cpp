#include "commands/info.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "adbo/version.h"
#include "output/summary_json.h"
#include "settings/setting_table.h"
#include "support/names.h"

namespace adbo::app {
namespace {

struct Named {
  std::string_view name, sentence;
};

constexpr std::array kMethods{
    Named{"auto", "Stands for async-hypergradient."},
    Named{
        "adbo",
        "The paper's asynchronous method: cutting planes of the lower level, the first S answers, staleness "
        "at most tau."},
    Named{"sdbo", "The same, waiting for every worker in every iteration (S = N)."},
    Named{"async-hypergradient",
          "No cuts, no barrier: running estimates of the lower solution and its adjoint from the workers' "
          "latest contributions."},
    Named{"exact",
          "The reference: the lower level solved and differentiated exactly, L-BFGS within the bounds; every "
          "round waits for all workers."},
};

constexpr std::array kProblems{
    Named{"clean", "Data hyper-cleaning: one weight per training row."},
    Named{"tune", "Regularization coefficients: one per feature."},
    Named{"quadratic", "A quadratic family with a known solution (adbo run)."},
};

std::string option_text() {
  std::string text;
  std::string_view group;
  for (const SettingInfo& info : setting_table()) {
    if (info.group != group) {
      group = info.group;
      text += fmt::format("{}{}\n", text.empty() ? "" : "\n", group);
    }
    const std::string value = info.get(RunConfig{});
    text += fmt::format("  {}{}\n", info.name, info.symbol.empty() ? "" : fmt::format(" ({})", info.symbol));
    text += fmt::format("      {}\n", info.sentence);
    text += fmt::format("      {}{}", info.expectation, value.empty() ? "" : "; default " + value);
    if (!info.aliases.empty()) text += fmt::format("; also {}", joined(info.aliases));
    text += "\n";
  }
  return text;
}

Json named_json(std::span<const Named> list) {
  Json json = Json::array();
  for (const Named& entry : list) json.push_back({{"name", entry.name}, {"sentence", entry.sentence}});
  return json;
}

Json preset_json(const Preset& preset) {
  Json values = Json::object();
  values["workers"] = std::to_string(preset.num_workers);
  for (const auto* list : {&preset.values, &preset.task_values}) {
    for (const auto& [name, value] : *list) values[std::string(name)] = value;
  }
  return {{"name", preset.name}, {"problem", preset.task}, {"sentence", preset.sentence}, {"values", values}};
}

Json option_json(const SettingInfo& info) {
  Json problems = Json::array();
  for (const ProblemKind kind : {ProblemKind::kClean, ProblemKind::kTune, ProblemKind::kQuadratic}) {
    if ((info.problems & mask_of(kind)) != 0) problems.push_back(to_string(kind));
  }
  return {{"name", info.name},
          {"group", info.group},
          {"default", info.get(RunConfig{})},
          {"expects", info.expectation},
          {"symbol", info.symbol},
          {"sentence", info.sentence},
          {"aliases", info.aliases},
          {"problems", std::move(problems)}};
}

Json info_json() {
  Json json = versions_json();
  json["methods"] = named_json(kMethods);
  json["problems"] = named_json(kProblems);
  json["presets"] = Json::array();
  for (const Preset& preset : presets()) json["presets"].push_back(preset_json(preset));
  json["options"] = Json::array();
  for (const SettingInfo& info : setting_table()) json["options"].push_back(option_json(info));
  return json;
}

void append_list(std::string& text, std::string_view title, std::span<const Named> list) {
  text += fmt::format("\n{}\n", title);
  for (const Named& entry : list) text += fmt::format("  {:<22}{}\n", entry.name, entry.sentence);
}

std::string overview_text() {
  std::string text =
      fmt::format("adbo {}\n{}\ninstruction set {}\n", version(), build_description(), instruction_set());
  append_list(text, "Methods", kMethods);
  append_list(text, "Problems", kProblems);
  std::vector<Named> list;
  for (const Preset& preset : presets()) list.push_back({preset.name, preset.sentence});
  append_list(text, "Presets", list);
  return text + "\nadbo info --options lists every option.\n";
}

}  // namespace

std::string info_text(bool options, bool json) {
  if (json) return json_text(info_json());
  return options ? option_text() : overview_text();
}

}  // namespace adbo::app
