#include "commands/info.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "adbo/method_table.h"
#include "adbo/version.h"
#include "output/summary_json.h"
#include "settings/setting_table.h"
#include "support/names.h"

namespace adbo::app {
namespace {

struct Named {
  std::string_view name, sentence;
};

constexpr std::array kProblems{
    Named{"clean", "Data hyper-cleaning: one weight per training row."},
    Named{"tune", "Regularization coefficients: one per feature."},
    Named{"quadratic", "A quadratic family with a known solution (adbo run)."},
};

std::vector<Named> named_methods() {
  std::vector<Named> list;
  for (const MethodInfo& info : method_table()) list.push_back({info.name, info.sentence});
  return list;
}

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

Json methods_json() {
  Json json = Json::array();
  for (const MethodInfo& info : method_table()) {
    Json options = Json::array();
    for (const OptionInfo& option : option_table()) {
      if (acts_on(option, info.method)) options.push_back(option.name);
    }
    json.push_back({{"name", info.name},
                    {"sentence", info.sentence},
                    {"source", info.source},
                    {"options", std::move(options)}});
  }
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
  json["methods"] = methods_json();
  json["problems"] = named_json(kProblems);
  json["presets"] = Json::array();
  for (const Preset& preset : presets()) json["presets"].push_back(preset_json(preset));
  json["options"] = Json::array();
  for (const SettingInfo& info : setting_table()) json["options"].push_back(option_json(info));
  return json;
}

void append_list(std::string& text, std::string_view title, std::span<const Named> list) {
  text += fmt::format("\n{}\n", title);
  std::size_t width = 20;
  for (const Named& entry : list) width = std::max(width, entry.name.size());
  for (const Named& entry : list) text += fmt::format("  {:<{}}  {}\n", entry.name, width, entry.sentence);
}

std::string overview_text() {
  std::string text =
      fmt::format("adbo {}\n{}\ninstruction set {}\n", version(), build_description(), instruction_set());
  append_list(text, "Methods", named_methods());
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
