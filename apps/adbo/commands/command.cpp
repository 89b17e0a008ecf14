#include "commands/command.h"

#include <fmt/format.h>

#include <exception>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <utility>

#include "commands/compare.h"
#include "commands/info.h"
#include "commands/problem_run.h"
#include "commands/report.h"
#include "commands/resume.h"
#include "execution/preparation_limit.h"
#include "execution/run_journal.h"
#include "io/error.h"
#include "settings/command_line.h"
#include "settings/config_file.h"
#include "settings/effects.h"

namespace adbo::app {
namespace {

std::optional<ProblemKind> problem_of(CommandName command) {
  if (command == CommandName::kClean) return ProblemKind::kClean;
  if (command == CommandName::kTune) return ProblemKind::kTune;
  return std::nullopt;  // named by the file
}

SavedRun told(const CommandLine& line, ProblemKind problem) {
  return {.problem = problem,
          .sources = line.sources,
          .working_folder = std::filesystem::current_path().string(),
          .comparison = std::nullopt,
          .identity = {}};
}

ExitCode run_problem_command(const CommandLine& line, const Environment& environment) {
  Settings settings = resolve_settings(problem_of(*line.command), line.sources);
  refuse_settings_without_effect(settings);
  set_console(environment.console, settings.task());
  const OutputFolder folder(settings.task().out);
  return run_problem(settings,
                     RunJournal::begun(folder, environment.console, told(line, settings.task().problem),
                                       checkpoint_rule(settings)),
                     environment);
}

ExitCode compare_command(const CommandLine& line, const Environment& environment) {
  const std::vector<ComparedMethod> methods = resolve_comparison(line.comparison, line.sources);
  const TaskSettings& task = methods.front().settings.task();
  set_console(environment.console, task);
  SavedRun saved = told(line, task.problem);
  saved.comparison = line.comparison;
  return compare_methods(line.comparison, methods,
                         ComparisonJournal::begun(OutputFolder(task.out), saved, methods), environment);
}

/// Of the command line alone: the file that may say more is what is waited for.
double given_time_limit(const SettingSources& sources) {
  RunConfig config;
  const SettingInfo& limit = *find_setting("time_limit");
  for (const auto* const given : {&sources.set, &sources.flags}) {
    for (const Assignment& entry : *given) {
      // What is wrong with a value is said when all are there.
      if (find_setting(entry.name) == &limit) (void)limit.set(config, entry.value);
    }
  }
  return config.options.time_limit_seconds;
}

void read_settings(CommandLine& line) {
  if (line.config_path.empty()) return;
  const PreparationLimit limit(given_time_limit(line.sources));
  line.sources.file = read_config_file(line.config_path);
}

ExitCode dispatch(const std::vector<std::string>& arguments, const Environment& environment) {
  CommandLine line = parse_command_line(arguments);
  if (!line.command) {
    environment.console.deliver(line.text);
    return ExitCode::kFinished;
  }
  if (*line.command == CommandName::kInfo) {
    environment.console.deliver(info_text(line.info_options, line.info_json));
    return ExitCode::kFinished;
  }
  if (*line.command == CommandName::kResume)
    return resume_run(line.run_folder, line.sources.flags, environment);
  if (*line.command == CommandName::kReport) return write_report(line.report_folder, environment.console);
  read_settings(line);
  if (*line.command == CommandName::kCompare) return compare_command(line, environment);
  return run_problem_command(line, environment);
}

/// Without the middle of what no one would read to its end: a name or value of megabytes.
std::string readable(std::string_view message) {
  constexpr std::size_t kFirst = 1200, kLast = 400;
  if (message.size() <= kFirst + kLast) return std::string(message);
  return fmt::format("{} ... ({} bytes left out) ... {}", message.substr(0, kFirst),
                     message.size() - kFirst - kLast, message.substr(message.size() - kLast));
}

}  // namespace

ExitCode run_command(const std::vector<std::string>& arguments, const Environment& environment) {
  const auto failed = [&environment](ExitCode code, std::string_view message) {
    environment.console.error(readable(message));
    return code;
  };
  try {
    return dispatch(arguments, environment);
  } catch (const UsageError& error) {
    return failed(ExitCode::kUsage, error.what());
  } catch (const DataError& error) {
    return failed(ExitCode::kInputData, error.what());
  } catch (const io::InputError& error) {
    return failed(ExitCode::kInputData, error.what());
  } catch (const io::OutputError& error) {
    return failed(ExitCode::kOutput, error.what());
  } catch (const std::bad_alloc&) {
    return failed(ExitCode::kInternal, "out of memory");
  } catch (const std::exception& error) {
    return failed(ExitCode::kInternal, error.what());
  }
}

}  // namespace adbo::app
