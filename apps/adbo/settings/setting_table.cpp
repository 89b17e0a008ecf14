#include "settings/setting_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "support/names.h"

namespace adbo::app {
namespace {

constexpr ProblemMask kClean = mask_of(ProblemKind::kClean);
constexpr ProblemMask kTune = mask_of(ProblemKind::kTune);
constexpr ProblemMask kQuadratic = mask_of(ProblemKind::kQuadratic);

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

struct Range {
  double lowest = -std::numeric_limits<double>::infinity();
  double highest = std::numeric_limits<double>::infinity();
  bool lowest_exclusive = false;
  bool highest_exclusive = false;

  [[nodiscard]] bool holds(double value) const {
    return std::isfinite(value) && (lowest_exclusive ? value > lowest : value >= lowest) &&
           (highest_exclusive ? value < highest : value <= highest);
  }
};

std::string expectation_of_number(bool integer, const Range& range, std::string_view unit) {
  std::string text = integer ? "an integer" : "a number";
  if (std::isfinite(range.lowest))
    text += fmt::format(" {} {}", range.lowest_exclusive ? ">" : ">=", range.lowest);
  if (std::isfinite(range.highest)) {
    text += fmt::format(" and {} {}", range.highest_exclusive ? "<" : "<=", range.highest);
  }
  if (!unit.empty()) text += fmt::format(" ({})", unit);
  return text;
}

std::string expectation_of_choice(std::span<const std::string_view> choices) {
  return "one of " + joined(choices);
}

/// What is wrong with a value, as set_option() says it of the engine's options.
std::string refusal(const SettingInfo& info, std::string_view value) {
  return fmt::format("{} = \"{}\": expected {}", info.name, value, info.expectation);
}

/// Nothing for what is no pair of bounds, `problem` then saying which part is at fault.
std::optional<UpperBounds> parse_bounds(std::string_view text, std::string& problem) {
  if (text == "auto") return UpperBounds{};
  if (text == "none") return UpperBounds{.rule = BoundsRule::kNone};
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos) {
    problem = "; there is no comma";
    return std::nullopt;
  }
  UpperBounds bounds{.rule = BoundsRule::kGiven};
  for (const auto& [part, value] : {std::pair{text.substr(0, comma), &bounds.lowest},
                                    std::pair{text.substr(comma + 1), &bounds.highest}}) {
    const std::optional<double> number = parse_number<double>(part);
    if (!number || !std::isfinite(*number)) {
      problem = fmt::format("; \"{}\" is not a number", part);
      return std::nullopt;
    }
    *value = *number;
  }
  if (bounds.lowest < bounds.highest) return bounds;
  problem = fmt::format("; {} is not below {}", bounds.lowest, bounds.highest);
  return std::nullopt;
}

std::string bounds_text(const UpperBounds& bounds) {
  switch (bounds.rule) {
    case BoundsRule::kAuto:
      return "auto";
    case BoundsRule::kNone:
      return "none";
    case BoundsRule::kGiven:
      break;
  }
  return fmt::format("{},{}", bounds.lowest, bounds.highest);
}

/// Collects the command's own settings, one group after the other.
class TaskTable {
 public:
  void group(std::string_view name) { group_ = name; }

  template <class Number>
  SettingInfo& number(std::string_view name, ProblemMask problems, Number TaskSettings::*member, Range range,
                      std::string_view sentence) {
    SettingInfo& info = add(name, problems, sentence);
    info.kind = std::is_integral_v<Number> ? ValueKind::kInteger : ValueKind::kNumber;
    info.expectation = expectation_of_number(std::is_integral_v<Number>, range, "");
    info.set = [member, range, name](RunConfig& config, std::string_view value) {
      const std::optional<Number> parsed = parse_number<Number>(value);
      if (!parsed || !range.holds(static_cast<double>(*parsed))) return refusal(*find_setting(name), value);
      config.task.*member = *parsed;
      return std::string();
    };
    info.get = [member](const RunConfig& config) { return fmt::format("{}", config.task.*member); };
    return info;
  }

  SettingInfo& text(std::string_view name, ProblemMask problems, std::string TaskSettings::*member,
                    std::string_view expectation, std::string_view sentence) {
    SettingInfo& info = add(name, problems, sentence);
    info.kind = ValueKind::kText;
    info.expectation = expectation;
    info.set = [member, name](RunConfig& config, std::string_view value) {
      if (value.empty()) return refusal(*find_setting(name), value);
      config.task.*member = std::string(value);
      return std::string();
    };
    info.get = [member](const RunConfig& config) { return config.task.*member; };
    return info;
  }

  /// "auto", "none" or "LOW,HIGH".
  SettingInfo& bounds(std::string_view name, ProblemMask problems, UpperBounds TaskSettings::*member,
                      std::string_view sentence) {
    SettingInfo& info = add(name, problems, sentence);
    info.kind = ValueKind::kText;
    info.expectation = "LOW,HIGH (two numbers, LOW < HIGH), none or auto";
    info.set = [member, name](RunConfig& config, std::string_view value) {
      std::string problem;
      const std::optional<UpperBounds> parsed = parse_bounds(value, problem);
      if (parsed) config.task.*member = *parsed;
      return parsed ? std::string() : refusal(*find_setting(name), value) + problem;
    };
    info.get = [member](const RunConfig& config) { return bounds_text(config.task.*member); };
    return info;
  }

  template <class Enum>
  SettingInfo& choice(std::string_view name, ProblemMask problems, Enum TaskSettings::*member,
                      std::vector<std::string_view> choices, std::string_view sentence) {
    SettingInfo& info = add(name, problems, sentence);
    info.kind = ValueKind::kChoice;
    info.expectation = expectation_of_choice(choices);
    info.set = [member, choices, name](RunConfig& config, std::string_view value) {
      const auto found = std::find(choices.begin(), choices.end(), value);
      if (found == choices.end()) return refusal(*find_setting(name), value);
      config.task.*member = static_cast<Enum>(found - choices.begin());
      return std::string();
    };
    info.get = [member, choices](const RunConfig& config) {
      return std::string(choices[static_cast<std::size_t>(config.task.*member)]);
    };
    return info;
  }

  SettingInfo& flag(std::string_view name, ProblemMask problems, bool TaskSettings::*member,
                    std::string_view sentence) {
    SettingInfo& info = add(name, problems, sentence);
    info.kind = ValueKind::kFlag;
    info.expectation = "true or false";
    info.set = [member, name](RunConfig& config, std::string_view value) {
      if (value != "true" && value != "false") return refusal(*find_setting(name), value);
      config.task.*member = value == "true";
      return std::string();
    };
    info.get = [member](const RunConfig& config) {
      return std::string(config.task.*member ? "true" : "false");
    };
    return info;
  }

  [[nodiscard]] std::vector<SettingInfo> take() { return std::move(table_); }

 private:
  SettingInfo& add(std::string_view name, ProblemMask problems, std::string_view sentence) {
    SettingInfo& info = table_.emplace_back();
    info.name = name;
    info.group = group_;
    info.problems = problems;
    info.sentence = sentence;
    return info;
  }

  std::string_view group_;
  std::vector<SettingInfo> table_;
};

constexpr Range at_least(double lowest) { return {.lowest = lowest}; }

void add_data(TaskTable& table) {
  using Task = TaskSettings;
  table.group("Data");
  table.text("train", kDataProblems, &Task::train, "a file",
             "Training rows: LIBSVM, CSV, IDX, CIFAR, NPY or NPZ, also gzipped; the content decides. "
             "FILE.npz:NAME is "
             "one array of an archive.");
  table.text(
      "train_labels", kDataProblems, &Task::train_labels, "a file",
      "Labels of --train where its format has none (IDX, NPY, an NPZ archive without an array for them).");
  table.text("validation", kDataProblems, &Task::validation, "a file",
             "Trusted rows; without it they are taken from --train.");
  table.text("validation_labels", kDataProblems, &Task::validation_labels, "a file",
             "Labels of --validation.");
  table.text("test", kDataProblems, &Task::test, "a file",
             "Rows for the test measures; no run learns from them.");
  table.text("test_labels", kDataProblems, &Task::test_labels, "a file", "Labels of --test.");
  table.text("label_column", kDataProblems, &Task::label_column, "a column name or position",
             "Label column of a CSV file: a name of its header, 1 for the first, -1 for the last.");
  table.text("id_column", kDataProblems, &Task::id_column, "a column name or position",
             "Column of a CSV file that names the rows.");
  table.text("positive_class", kDataProblems, &Task::positive_class, "a label",
             "Two classes: this label against all others.");
  table.choice("header", kDataProblems, &Task::header, {"auto", "present", "absent"},
               "Whether the first line of a CSV file names the columns.");
  table.choice("index_base", kDataProblems, &Task::index_base, {"auto", "0", "1"},
               "Index of the first feature in a LIBSVM file.");
}

void add_preparation(TaskTable& table) {
  using Task = TaskSettings;
  table.group("Preparation");
  SettingInfo& workers =
      table.number("workers", kAllProblems, &Task::workers, {.lowest = 1, .highest = 100000},
                   "Workers the rows are spread over, in contiguous shards.");
  workers.symbol = "N";
  workers.aliases = {"N"};
  table.number("validation_fraction", kDataProblems, &Task::validation_fraction,
               {.lowest = 0, .highest = 1, .lowest_exclusive = true, .highest_exclusive = true},
               "Share of every worker's rows that validates when there is no --validation.");
  table.choice("split", kDataProblems, &Task::split, {"shard-tail", "random"},
               "Which rows of a shard validate: the last ones, or random ones.");
  table.number(
      "holdout", kDataProblems, &Task::holdout, {.lowest = 0, .highest = 1, .highest_exclusive = true},
      "Share of the validation rows that the upper objective does not see and that decides which upper "
      "variable is delivered; tune: 0 unless given.");
  table.number("patience", kDataProblems, &Task::patience, at_least(0),
               "Iterations without a lower loss on the held-out rows that end the run; 0: it goes on.");
  table.choice("after_holdout", kDataProblems, &Task::after_holdout, {"refit", "keep"},
               "Once the held-out rows have chosen a state: run again with all validation rows for as many "
               "iterations and deliver that, or deliver the chosen state.");
  table.number(
      "pool_rows", kTune, &Task::pool_rows, at_least(0),
      "Pools and shuffles the rows of --train and --test, trains and validates with this many and tests with "
      "the others; 0: off.");
  table.choice(
      "scale", kDataProblems, &Task::scale, {"auto", "none", "standardize", "mean-sd", "unit", "mnist-code"},
      "Scaling of the features: every column by its mean and deviation (auto for tables), all by the global "
      "ones (auto for pictures), or every column by its largest magnitude (unit).");
  table.number("corrupt", kClean, &Task::corrupt, {.lowest = 0, .highest = 1},
               "Share of the training rows whose label is made wrong, for experiments.");
  table.choice(
      "corrupt_rule", kClean, &Task::corrupt_rule, {"other-class", "count-shift"},
      "Every row with that rate to a random other class; or an exact count per worker, labels shifted (the "
      "authors' code).");
}

void add_model(TaskTable& table) {
  using Task = TaskSettings;
  table.group("Model");
  table.choice(
      "shard_weights", kDataProblems, &Task::shard_weights, {"equal", "rows"},
      "Workers' means are summed as they are (paper), or weighted by their rows so that the split does not "
      "matter.");
  SettingInfo& ridge =
      table.number("ridge", kClean, &Task::ridge, at_least(0), "Weight of the squared norm of the model.");
  ridge.symbol = "C_r";
  table.choice("model", kTune, &Task::model, {"auto", "logistic", "softmax"},
               "Logistic regression (two classes) or softmax; auto: by the number of classes.");
  table.choice("parametrization", kTune, &Task::parametrization, {"linear", "exp", "softplus"},
               "Coefficient of the upper variable psi: psi itself (paper; may go negative), exp(psi) or "
               "log(1 + exp(psi)).");
  table.number("penalty_factor", kTune, &Task::penalty_factor, {.lowest = 0, .lowest_exclusive = true},
               "Factor of the sum of coefficient times squared weight.");
  table.flag("per_class", kTune, &Task::per_class, "Softmax: a coefficient per feature and class.");
  table.bounds("bounds", kTune, &Task::bounds,
               "Bounds of every upper variable psi; auto: -12,12 with exp and softplus, none with linear.");
  table.choice("start", kDataProblems, &Task::start, {"zero", "code-clean", "code-tune"},
               "All zeros, or the random starts of the authors' two programs.");
}

void add_quadratic(TaskTable& table) {
  using Task = TaskSettings;
  table.group("Quadratic family");
  table.number("upper_dim", kQuadratic, &Task::upper_dim, {.lowest = 1, .highest = 1e6},
               "Size of the upper variable.");
  table.number("lower_dim", kQuadratic, &Task::lower_dim, {.lowest = 1, .highest = 1e4},
               "Size of the lower variable.");
  table.number("condition", kQuadratic, &Task::condition, at_least(1),
               "Condition number of the lower Hessians.");
  table.number("heterogeneity", kQuadratic, &Task::heterogeneity, {.lowest = 0, .highest = 1},
               "0: all workers equal; 1: independent draws.");
}

void add_measures(TaskTable& table) {
  using Task = TaskSettings;
  table.group("Measures");
  table.choice(
      "measure", kAllProblems, &Task::measure, {"auto", "full", "quick"},
      "full: the lower level is re-solved at the end, and for clean a model to be delivered is trained. "
      "quick: neither; what is delivered is the run's own model, and what needs more is absent. auto: full, "
      "unless the limit of time or a signal comes first; then quick.");
  table.choice("deliver", kClean, &Task::deliver, {"trimmed", "weighted"},
               "The delivered model learns from the validation rows and from the training rows that the "
               "re-trained and the plain model together do not find suspect (trimmed), or from all with "
               "their weights.");
  table.number(
      "measure_tolerance", kAllProblems, &Task::measure_tolerance, at_least(0),
      "Gradient norm that the lower level is re-solved to at the end; 0: 1e-4 for clean, 1e-8 otherwise.");
  table.number("measure_evaluations", kAllProblems, &Task::measure_evaluations, at_least(1),
               "Most evaluations of a re-solve.");
  table.number("resolve_every", kDataProblems, &Task::resolve_every, at_least(0),
               "Iterations from one value_function and test_accuracy_retrained in trace.csv to the next, the "
               "lower level re-solved at the current upper variable outside the run's time; 0: none.");
}

void add_output(TaskTable& table) {
  using Task = TaskSettings;
  table.group("Output");
  table.text("out", kAllProblems, &Task::out, "a folder",
             "Folder of the output files; made when it is missing.");
  table.number("evaluate_every", kDataProblems, &Task::evaluate_every, at_least(0),
               "Iterations from one test of the consensus model to the next; 0: 200 tests a run.");
  table.number("checkpoint_interval", kAllProblems, &Task::checkpoint_interval, at_least(0),
               "Seconds from one checkpoint to the next, for `adbo resume`; 0: none by time.");
  table.number("checkpoint_every", kAllProblems, &Task::checkpoint_every, at_least(0),
               "Iterations from one checkpoint to the next; 0: none by iterations.");
  table.flag("record", kAllProblems, &Task::record,
             "Writes the order in which answers came to arrivals.csv, for clock = replay:FILE.");
  table.choice("progress", kAllProblems, &Task::progress, {"auto", "bar", "lines", "none"},
               "Progress on stderr; auto and bar: a bar on a terminal, else lines.");
  table.flag("quiet", kAllProblems, &Task::quiet,
             "No progress, no notes; errors and warnings (something was lost or damaged) stay.");
  table.flag("verbose", kAllProblems, &Task::verbose, "Says what was read and how it was prepared.")
      .aliases = {"v"};
  table.flag("json", kAllProblems, &Task::json, "The summary on stdout as JSON.");
  table.flag("require_converged", kAllProblems, &Task::require_converged,
             "Exit code 6 unless the run ended as converged.");
}

ValueKind kind_of(const OptionInfo& info) {
  if (std::holds_alternative<OptionInfo::Choice>(info.member)) return ValueKind::kChoice;
  if (std::holds_alternative<double Options::*>(info.member)) return ValueKind::kNumber;
  if (std::holds_alternative<std::string Options::*>(info.member)) return ValueKind::kText;
  return ValueKind::kInteger;
}

/// The command adds a third clock to the engine's two: the order that a run under the real one was recorded
/// in.
void add_replay(SettingInfo& info) {
  static constexpr std::string_view kReplay = "replay:";
  info.expectation = "real, virtual or replay:FILE";
  info.set = [set = info.set](RunConfig& config, std::string_view value) {
    const bool replays = value.starts_with(kReplay) && value.size() > kReplay.size();
    config.task.replay = replays ? value.substr(kReplay.size()) : std::string_view();
    const std::string problem = set(config, replays ? "real" : value);
    return problem.empty() ? problem : refusal(*find_setting("clock"), value);
  };
  info.get = [get = info.get](const RunConfig& config) {
    return config.task.replay.empty() ? get(config) : std::string(kReplay) + config.task.replay;
  };
}

SettingInfo from_engine(const OptionInfo& option) {
  SettingInfo info;
  info.name = option.name;
  info.group = option.group;
  info.kind = kind_of(option);
  info.of_engine = true;
  info.expectation = option.choices.empty()
                         ? expectation_of_number(
                               info.kind == ValueKind::kInteger,
                               {option.lowest, option.highest, option.lowest_exclusive, false}, option.unit)
                         : expectation_of_choice(option.choices);
  info.symbol = option.symbol;
  info.sentence = option.sentence;
  info.aliases = option.aliases;
  info.set = [&option](RunConfig& config, std::string_view value) {
    return set_option(config.options, option.name, value).message();
  };
  info.get = [&option](const RunConfig& config) { return option_value(config.options, option); };
  if (option.name == "clock") add_replay(info);
  return info;
}

std::vector<SettingInfo> build_table() {
  TaskTable own;
  add_data(own);
  add_preparation(own);
  add_model(own);
  add_quadratic(own);
  add_measures(own);
  std::vector<SettingInfo> table = own.take();
  for (const OptionInfo& option : option_table()) table.push_back(from_engine(option));
  TaskTable output;
  add_output(output);
  for (SettingInfo& info : output.take()) table.push_back(std::move(info));
  return table;
}

}  // namespace

std::span<const SettingInfo> setting_table() {
  static const std::vector<SettingInfo> table = build_table();
  return table;
}

const SettingInfo* find_setting(std::string_view name) {
  const std::string wanted = underscored(name);
  for (const SettingInfo& info : setting_table()) {
    if (info.name == wanted) return &info;
    if (std::find(info.aliases.begin(), info.aliases.end(), wanted) != info.aliases.end()) return &info;
  }
  return nullptr;
}

std::string_view nearest_setting(std::string_view name, ProblemMask problems,
                                 std::span<const std::string_view> others) {
  std::vector<std::string_view> candidates(others.begin(), others.end());
  for (const SettingInfo& info : setting_table()) {
    if ((info.problems & problems) == 0) continue;
    candidates.push_back(info.name);
    candidates.insert(candidates.end(), info.aliases.begin(), info.aliases.end());
  }
  return nearest_name(name, candidates);
}

std::string_view to_string(ProblemKind kind) {
  switch (kind) {
    case ProblemKind::kClean:
      return "clean";
    case ProblemKind::kTune:
      return "tune";
    case ProblemKind::kQuadratic:
      return "quadratic";
  }
  return "?";
}

}  // namespace adbo::app
