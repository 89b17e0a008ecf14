#include "settings/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "adbo/version.h"
#include "settings/saved_run.h"
#include "support/exit_code.h"
#include "support/names.h"

namespace adbo::app {
namespace {

struct CommandInfo {
  CommandName name;
  std::string_view word;
  std::string_view sentence;
  ProblemMask problems;
};

constexpr std::int64_t kMostRepeats = 1000;

constexpr std::array kCommands{
    CommandInfo{CommandName::kClean, "clean", "Find the rows whose labels are wrong, and a better model",
                mask_of(ProblemKind::kClean)},
    CommandInfo{CommandName::kTune, "tune", "Learn one regularization coefficient per feature",
                mask_of(ProblemKind::kTune)},
    CommandInfo{CommandName::kRun, "run", "Run any problem from a TOML file", kAllProblems},
    CommandInfo{CommandName::kCompare, "compare",
                "Methods side by side on the same split, corruption and start", kDataProblems},
    CommandInfo{CommandName::kReport, "report",
                "A page of curves and tables from the folder of a run or comparison", 0},
    CommandInfo{CommandName::kResume, "resume", "Go on with a run that was stopped or killed", kAllProblems},
    CommandInfo{CommandName::kInfo, "info", "Version, build, methods, problems, presets, options", 0},
};

/// "--max-staleness,--tau": the name first, then the aliases.
std::string flag_names(const SettingInfo& info) {
  std::string names = "--" + hyphenated(info.name);
  for (const std::string_view alias : info.aliases) {
    names += alias == "v" ? ",-v" : ",--" + hyphenated(alias);
  }
  return names;
}

std::string description(const SettingInfo& info) {
  std::string text(info.sentence);
  if (info.kind == ValueKind::kFlag) return text;
  const std::string value = info.get(RunConfig{});
  text += fmt::format(" [{}", info.expectation);
  if (!value.empty()) text += fmt::format("; default {}", value);
  text += "]";
  if (!info.symbol.empty()) text += fmt::format(" ({})", info.symbol);
  return text;
}

void add_setting(CLI::App& command, const SettingInfo& info, CommandLine& line) {
  const std::string flag = "--" + hyphenated(info.name);
  const std::string name(info.name);
  CLI::Option* option = nullptr;
  if (info.kind == ValueKind::kFlag) {
    option = command.add_flag_function(
        flag_names(info),
        [&line, flag, name](std::int64_t count) {
          line.sources.flags.push_back({name, count > 0 ? "true" : "false", flag});
        },
        description(info));
  } else {
    option = command.add_option_function<std::string>(
        flag_names(info),
        [&line, flag, name](const std::string& value) {
          line.sources.flags.push_back({name, value, flag});
        },
        description(info));
    option->type_name(info.kind == ValueKind::kText ? "TEXT" : "VALUE");
  }
  option->group(std::string(info.group));
}

/// Of repeats or candidates.
std::int64_t parse_count(std::string_view name, const std::string& text, std::int64_t least) {
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size() || value < least || value > kMostRepeats) {
    throw UsageError(
        fmt::format("{} = \"{}\": expected an integer >= {} and <= {}", name, text, least, kMostRepeats));
  }
  return value;
}

void add_set(CLI::App& command, CommandLine& line) {
  command
      .add_option_function<std::vector<std::string>>(
          "--set",
          [&line](const std::vector<std::string>& entries) {
            for (const std::string& entry : entries) {
              const std::size_t equals = entry.find('=');
              if (equals == std::string::npos || equals == 0) {
                throw UsageError(fmt::format("--set {}: expected key=value", entry));
              }
              line.sources.set.push_back({entry.substr(0, equals), entry.substr(equals + 1), "--set"});
            }
          },
          "A setting by its name in configuration files, key=value; may be repeated")
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE")
      ->group("Settings");
}

void add_comparison(CLI::App& command, CommandLine& line) {
  command
      .add_option_function<std::string>(
          "--problem",
          [&line](const std::string& value) {
            line.sources.flags.push_back({"problem", value, "--problem"});
          },
          "What the methods are compared on [clean or tune]")
      ->type_name("VALUE")
      ->group("Comparison");
  command
      .add_option(
          "--methods", line.comparison.methods,
          "Methods to compare, with commas between them; METHOD.option=value with --set is for one of them")
      ->type_name("A,B,...")
      ->group("Comparison");
  command
      .add_option_function<std::string>(
          "--repeat",
          [&line](const std::string& value) { line.comparison.repeat = parse_count("repeat", value, 1); },
          "Splits, corruptions and starts, with the seeds seed, seed + 1, ... [an integer >= 1 and <= 1000; "
          "default 3]")
      ->type_name("VALUE")
      ->group("Comparison");
  command
      .add_option_function<std::string>(
          "--search",
          [&line](const std::string& value) { line.comparison.search = parse_count("search", value, 0); },
          "Settings of its steps that every method may try before the repeats, the given ones among them [an "
          "integer >= 0 and <= 1000; default 0: no search]")
      ->type_name("VALUE")
      ->group("Comparison");
}

void add_settings(CLI::App& command, const CommandInfo& info, CommandLine& line) {
  command
      .add_option_function<std::string>(
          "--preset",
          [&line](const std::string& value) {
            line.sources.flags.push_back({"preset", value, "--preset"});
          },
          "Published settings: see `adbo info`")
      ->type_name("NAME")
      ->group("Settings");
  add_set(command, line);
  if (info.name == CommandName::kRun) {
    command.add_option("config", line.config_path, "TOML file of settings")->type_name("FILE");
  } else {
    command.add_option("--config", line.config_path, "TOML file of settings")
        ->type_name("FILE")
        ->group("Settings");
  }
  for (const SettingInfo& setting : setting_table()) {
    if ((setting.problems & info.problems) != 0) add_setting(command, setting, line);
  }
}

void add_options(CLI::App& command, const CommandInfo& info, CommandLine& line) {
  if (info.name == CommandName::kInfo) {
    command.add_flag("--options", line.info_options, "The whole option table");
    command.add_flag("--json", line.info_json, "Everything, as JSON");
  } else if (info.name == CommandName::kReport) {
    command
        .add_option("folder", line.report_folder,
                    "Folder of a run or of a comparison; report.html goes there")
        ->type_name("DIR");
  } else if (info.name == CommandName::kResume) {
    command.add_option("folder", line.run_folder, "Output folder of the run or comparison")->type_name("DIR");
    for (const SettingInfo& setting : setting_table()) {
      add_setting(command, setting, line);
      // The others are understood, so that they can be compared with what the run has, and not offered.
      if (!is_free_setting(setting.name) || setting.name == "out") {
        command.get_option("--" + hyphenated(setting.name))->group("");
      }
    }
  } else {
    if (info.name == CommandName::kCompare) add_comparison(command, line);
    add_settings(command, info, line);
  }
}

/// The first word that is no flag: the command, if there is one.
std::string asked_command(const std::vector<std::string>& arguments) {
  const auto word = std::find_if(arguments.begin(), arguments.end(),
                                 [](const std::string& argument) { return !argument.starts_with('-'); });
  return word == arguments.end() ? std::string() : *word;
}

/// Of every command its name, of the one that is asked for its options: CLI11 compares each option with all
/// before it, and those of the table of settings times the commands are thousands.
void add_commands(CLI::App& app, const std::string& asked, CommandLine& line) {
  for (const CommandInfo& info : kCommands) {
    CLI::App* const command = app.add_subcommand(std::string(info.word), std::string(info.sentence));
    command->allow_extras();  // so that a misspelt flag can be answered with the nearest one
    command->callback([&line, name = info.name] { line.command = name; });
    if (info.word == asked) add_options(*command, info, line);
  }
}

/// Names with underscores, as the authors' code and configuration files write them, are flags too.
std::string with_hyphens(const std::string& argument) {
  if (argument.rfind("--", 0) != 0) return argument;
  const std::size_t equals = argument.find('=');
  return hyphenated(argument.substr(0, equals)) +
         (equals == std::string::npos ? "" : argument.substr(equals));
}

/// Of `--name=value`. CLI11 takes numbers and words of its own for what a flag's value may be, and the next
/// word for a value that is empty: --out= --quiet, of a script whose variable is empty, for a folder --quiet.
void refuse_value(const std::string& argument) {
  const std::size_t equals = argument.find('=');
  if (!argument.starts_with("--") || equals == std::string::npos) return;
  const std::string flag = argument.substr(0, equals), value = argument.substr(equals + 1);
  const SettingInfo* const info = find_setting(flag.substr(2));
  const bool is_flag = info != nullptr && info->kind == ValueKind::kFlag;
  if (is_flag && value != "true" && value != "false") {
    throw UsageError(fmt::format("{} = \"{}\": expected {}", flag, value, info->expectation));
  }
  if (value.empty()) throw UsageError(fmt::format("{} needs a value: nothing follows the =", flag));
}

/// The flags of a command that are no settings.
std::vector<std::string_view> other_flags(CommandName command) {
  std::vector<std::string_view> names{"preset", "set"};
  if (command != CommandName::kRun) names.push_back("config");
  if (command == CommandName::kCompare) names.insert(names.end(), {"problem", "methods", "repeat"});
  return names;
}

[[noreturn]] void refuse_flag(const std::string& argument, const CommandInfo& info) {
  const std::string flag = argument.substr(0, argument.find('='));
  if (flag.rfind('-', 0) != 0) {
    throw UsageError(fmt::format("{}: unexpected argument \"{}\"", info.word, argument));
  }
  const std::string name = flag.substr(std::min(flag.find_first_not_of('-'), flag.size()));
  if (info.name == CommandName::kRun && name == "config") {
    throw UsageError("run: the file of settings is given without a flag, as in adbo run FILE");
  }
  const SettingInfo* const elsewhere = find_setting(name);
  if (elsewhere != nullptr && info.problems != 0) {
    throw UsageError(fmt::format("{} has no effect for {}", flag, info.word));
  }
  if (info.name == CommandName::kResume && (name == "set" || name == "config" || name == "preset")) {
    throw UsageError(
        fmt::format("{}: --{} has no effect: a run goes on with the settings it was begun with; what may be "
                    "given again are flags of their own",
                    info.word, name));
  }
  const std::string_view nearest =
      info.problems == 0 ? "" : nearest_setting(name, info.problems, other_flags(info.name));
  throw UsageError(fmt::format("{}: there is no option {}{}", info.word, flag,
                               suggestion(nearest.empty() ? std::string() : "--" + hyphenated(nearest))));
}

void refuse_leftovers(const CLI::App& app) {
  for (const CommandInfo& info : kCommands) {
    const CLI::App* const command = app.get_subcommand(std::string(info.word));
    if (!command->parsed()) continue;
    const std::vector<std::string> leftovers = command->remaining();
    if (leftovers.empty()) continue;
    const auto flag = std::find_if(leftovers.begin(), leftovers.end(),
                                   [](const std::string& word) { return word.rfind('-', 0) == 0; });
    refuse_flag(flag == leftovers.end() ? leftovers.front() : *flag, info);
  }
}

/// CLI11's message, but for those that only programmers understand.
std::string in_our_words(const std::string& message) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kWords{
      {{": At Most 1 required", " is given more than once"}, {": 1 required", " needs a value"}}};
  for (const auto& [theirs, ours] : kWords) {
    const std::size_t end = message.find(theirs);
    if (end != std::string::npos) return message.substr(0, end) + std::string(ours);
  }
  return message;
}

void require_argument(const CommandLine& line) {
  if (line.command == CommandName::kRun && line.config_path.empty()) {
    throw UsageError("run: the file of settings is missing, as in adbo run FILE");
  }
  if (line.command == CommandName::kReport && line.report_folder.empty()) {
    throw UsageError("report: the folder of a run or comparison is missing, as in adbo report DIR");
  }
  if (line.command == CommandName::kResume && line.run_folder.empty()) {
    throw UsageError("resume: the folder of a run is missing, as in adbo resume DIR");
  }
}

void refuse_unknown_command(const std::vector<std::string>& arguments) {
  if (arguments.empty())
    throw UsageError(
        "no command is given: clean, tune, run, compare, report, resume or info (adbo --help says more)");
  const std::string& word = arguments.front();
  if (word.rfind('-', 0) == 0) return;
  std::vector<std::string_view> words;
  for (const CommandInfo& info : kCommands) words.push_back(info.word);
  if (std::find(words.begin(), words.end(), word) != words.end()) return;
  throw UsageError(fmt::format("there is no command \"{}\"{} (commands: {})", word,
                               suggestion(nearest_name(word, words)), joined(words)));
}

}  // namespace

CommandLine parse_command_line(const std::vector<std::string>& arguments) {
  CommandLine line;
  refuse_unknown_command(arguments);
  CLI::App app(
      "Asynchronous distributed bilevel optimization: hyper-cleaning of labels and tuning of coefficients.",
      "adbo");
  app.require_subcommand(1);
  app.set_version_flag("--version", "adbo " + std::string(version()));
  add_commands(app, asked_command(arguments), line);

  std::vector<std::string> reversed;  // as CLI11 wants them
  for (const std::string& argument : arguments) {
    refuse_value(argument);
    reversed.push_back(with_hyphens(argument));
  }
  std::reverse(reversed.begin(), reversed.end());
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    line.text = app.help();
    line.command.reset();
    return line;
  } catch (const CLI::CallForVersion& version) {
    line.text = std::string(version.what()) + "\n";
    line.command.reset();
    return line;
  } catch (const CLI::ParseError& error) {
    throw UsageError(in_our_words(error.what()));
  }
  refuse_leftovers(app);
  require_argument(line);
  return line;
}

}  // namespace adbo::app
