#include "settings/settings.h"

#include <doctest/doctest.h>

#include <cmath>
#include <csignal>
#include <limits>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "commands/problem_run.h"
#include "io/error.h"
#include "settings/command_line.h"
#include "settings/config_file.h"
#include "settings/effects.h"
#include "settings/step_search.h"
#include "support/exit_code.h"

using namespace adbo::app;

namespace {

bool contains(const std::string& text, std::string_view piece) {
  return text.find(piece) != std::string::npos;
}

void check_refused(const auto& call, std::initializer_list<std::string_view> pieces) {
  std::string message;
  try {
    call();
  } catch (const UsageError& error) {
    message = error.what();
  }
  INFO("message: ", message);
  CHECK(!message.empty());
  for (const std::string_view piece : pieces) {
    INFO("piece: ", std::string(piece));
    CHECK(contains(message, piece));
  }
}

Settings from_line(const std::vector<std::string>& arguments, ProblemKind problem = ProblemKind::kClean) {
  Settings settings = resolve_settings(problem, parse_command_line(arguments).sources);
  refuse_settings_without_effect(settings);
  return settings;
}

}  // namespace

TEST_CASE("settings: names are unique across the engine's options and the command's own") {
  std::set<std::string> names;
  for (const SettingInfo& info : setting_table()) {
    CHECK(names.insert(std::string(info.name)).second);
    for (const std::string_view alias : info.aliases) CHECK(names.insert(std::string(alias)).second);
    CHECK(info.problems != 0);
    CHECK(!info.expectation.empty());
  }
}

TEST_CASE("settings: every default survives a round trip through text") {
  const RunConfig defaults;
  for (const SettingInfo& info : setting_table()) {
    const std::string value = info.get(defaults);
    if (info.kind == ValueKind::kText && value.empty()) continue;  // no file named
    RunConfig config;
    INFO(std::string(info.name), " = ", value);
    CHECK(info.set(config, value) == "");
    CHECK(info.get(config) == value);
  }
}

TEST_CASE("settings: flag over --set over file over preset over default") {
  const auto value = [](const SettingSources& sources) {
    return resolve_settings(ProblemKind::kClean, sources);
  };
  SettingSources sources;
  CHECK(value(sources).options().max_staleness == 0);
  CHECK(value(sources).origin("max_staleness") == Origin::kDefault);
  sources.flags = {{"preset", "paper/cifar10", "--preset"}};
  CHECK(value(sources).options().max_staleness == 5);
  CHECK(value(sources).origin("max_staleness") == Origin::kPreset);
  sources.file = {{"max_staleness", "6", "run.toml:1:1"}};
  CHECK(value(sources).options().max_staleness == 6);
  CHECK(value(sources).origin("max_staleness") == Origin::kFile);
  sources.set = {{"tau", "7", "--set"}};
  CHECK(value(sources).options().max_staleness == 7);
  CHECK(value(sources).origin("max_staleness") == Origin::kSet);
  sources.flags.push_back({"max-staleness", "8", "--max-staleness"});
  CHECK(value(sources).options().max_staleness == 8);
  CHECK(value(sources).origin("max_staleness") == Origin::kFlag);
  CHECK(value(sources).origin("active_workers") == Origin::kPreset);
  CHECK(value(sources).preset() == "paper/cifar10");
}

TEST_CASE("settings: presets set the workers and the task") {
  const Settings settings =
      resolve_settings(ProblemKind::kTune, {.flags = {{"preset", "code/ijcnn1", "--preset"}}});
  CHECK(settings.task().workers == 24);
  CHECK(settings.task().pool_rows == 120000);
  CHECK(settings.task().parametrization == adbo::Parametrization::kLinear);
  CHECK(settings.task().penalty_factor == doctest::Approx(0.5 / 44).epsilon(1e-15));
  CHECK(settings.task().start == StartRule::kCodeTune);
  CHECK(settings.options().seed == 77);
}

TEST_CASE("settings: bounds of the upper variable") {
  const auto bounds = [](const std::string& value) {
    return resolve_settings(ProblemKind::kTune, {.set = {{"bounds", value, "--set"}}}).task().bounds;
  };
  CHECK(bounds("-12,12.5").rule == BoundsRule::kGiven);
  CHECK(bounds("-12,12.5").lowest == -12);
  CHECK(bounds("-12,12.5").highest == 12.5);
  CHECK(bounds("none").rule == BoundsRule::kNone);
  CHECK(bounds("auto").rule == BoundsRule::kAuto);
  CHECK(resolve_settings(ProblemKind::kTune, {.flags = {{"preset", "paper/ijcnn1", "--preset"}}})
            .task()
            .bounds.rule == BoundsRule::kNone);
}

TEST_CASE("settings: every preset resolves for its problem and is refused for the other") {
  for (const adbo::Preset& preset : adbo::presets()) {
    const bool clean = preset.task == "clean";
    const SettingSources sources{.flags = {{"preset", std::string(preset.name), "--preset"}}};
    CHECK_NOTHROW((void)resolve_settings(clean ? ProblemKind::kClean : ProblemKind::kTune, sources));
    check_refused([&] { (void)resolve_settings(clean ? ProblemKind::kTune : ProblemKind::kClean, sources); },
                  {preset.name, "is for " + std::string(preset.task)});
  }
}

TEST_CASE("settings: what is refused, and how") {
  const auto with_set = [](std::string name, std::string value) {
    return [=] { (void)resolve_settings(ProblemKind::kClean, {.set = {{name, value, "--set"}}}); };
  };
  check_refused(with_set("max_stalness", "3"), {"--set", "max_stalness", "did you mean \"max_staleness\"?"});
  check_refused(with_set("confi", "3"), {"there is no setting \"confi\""});
  check_refused(with_set("methods", "auto,adbo"),
                {"methods is no setting of a run", "compare on its command line (--methods)"});
  check_refused(with_set("repeat", "3"), {"repeat is no setting of a run", "(--repeat)"});
  check_refused(with_set("max_staleness", "-1"), {"--set", "max_staleness", "\"-1\"", ">= 0"});
  check_refused(with_set("corrupt", "1.5"), {"corrupt", "\"1.5\"", ">= 0 and <= 1"});
  check_refused(with_set("validation_fraction", "1"), {"validation_fraction", "> 0 and < 1"});
  check_refused(with_set("scale", "zscore"), {"scale", "zscore", "standardize, mean-sd"});
  check_refused(with_set("workers", "2.5"), {"workers", "an integer >= 1"});
  check_refused(with_set("parametrization", "exp"), {"parametrization has no effect for clean"});
  check_refused(with_set("preset", "paper/mnits"), {"paper/mnits", "did you mean \"paper/mnist\"?"});
  check_refused(with_set("problem", "tune"), {"problem = \"tune\"", "the command is clean"});
  check_refused([] { (void)resolve_settings(std::nullopt, {}); }, {"no problem is named"});
  check_refused(
      [] {
        (void)resolve_settings(ProblemKind::kClean,
                               {.file = {{"tau", "3", "a.toml:1:1"}, {"max_staleness", "4", "a.toml:2:1"}}});
      },
      {"a.toml:2:1", "max_staleness", "already given at a.toml:1:1"});
}

TEST_CASE("settings: one without effect in a file is refused with its line") {
  check_refused(
      [] {
        SettingSources sources;
        sources.file = parse_config("iterations = 3\npatience = 4\nholdout = 0\n", "run.toml");
        refuse_settings_without_effect(resolve_settings(ProblemKind::kClean, sources));
      },
      {"run.toml:2:1: patience has no effect with holdout = 0"});
}

TEST_CASE("settings: a setting without effect is refused when the user gave it, not when a preset did") {
  check_refused(
      [] {
        (void)from_line({"clean", "--method", "adbo", "--c1", "0.1"});
      },
      {"cut_regularization has no effect", "decaying"});
  check_refused(
      [] {
        (void)from_line({"clean", "--corrupt-rule", "count-shift"});
      },
      {"corrupt_rule", "corrupt = 0"});
  check_refused(
      [] {
        (void)from_line({"clean", "--evaluate-every", "5"});
      },
      {"evaluate_every", "without test"});
  check_refused(
      [] {
        (void)from_line({"clean", "--method", "adbo", "--theorem-gamma", "4"});
      },
      {"theorem_gamma", "unless steps = theorem2"});
  check_refused(
      [] {
        (void)from_line({"clean", "--method", "adbo", "--cuts", "implicit", "--lower-rounds", "2"});
      },
      {"lower_rounds has no effect", "cuts = implicit"});
  check_refused(
      [] {
        (void)from_line({"clean", "--method", "adbo", "--lower-copies", "local"});
      },
      {"lower_copies has no effect", "unless cuts = implicit"});
  CHECK_NOTHROW(
      (void)from_line({"clean", "--method", "adbo", "--cuts", "implicit", "--adjoint-damping", "1"}));
  check_refused(
      [] {
        (void)from_line({"clean", "--executor", "inline", "--threads", "2"});
      },
      {"threads has no effect", "executor = inline"});
  CHECK_NOTHROW((void)from_line({"clean", "--executor", "inline"}));
  check_refused([] { (void)from_line({"clean", "--quiet", "-v"}); }, {"quiet", "verbose"});
  CHECK_NOTHROW(
      (void)from_line({"clean", "--method", "adbo", "--c1", "0.1", "--regularization", "constant"}));
  CHECK_NOTHROW((void)from_line({"clean", "--preset", "code/mnist"}));
  check_refused(
      [] {
        (void)from_line({"clean", "--lower-tolerance", "0.1"});
      },
      {"lower_tolerance has no effect", "method = auto, which stands for async-hypergradient"});
}

TEST_CASE("command line: flags, aliases, underscores, negative numbers") {
  const Settings settings =
      from_line({"clean", "--method", "adbo", "--max_staleness", "3", "--w_lr=0.5", "--S", "4", "--cut-until",
                 "-1", "--set", "seed=9", "--set", "iterations=12", "--json"});
  CHECK(settings.options().max_staleness == 3);
  CHECK(settings.options().step_lower_local == 0.5);
  CHECK(settings.options().active_workers == 4);
  CHECK(settings.options().seed == 9);
  CHECK(settings.options().iterations == 12);
  CHECK(settings.task().json);
  CHECK(settings.origin("cut_until") == Origin::kFlag);
}

TEST_CASE("command line: what is refused, and how") {
  const auto line = [](std::vector<std::string> arguments) {
    return [=] { (void)parse_command_line(arguments); };
  };
  check_refused(line({}), {"no command"});
  check_refused(line({"claen"}), {"claen", "did you mean \"clean\"?"});
  check_refused(line({"contrast"}), {"there is no command \"contrast\""});
  check_refused(line({"clean", "--max-stalness", "3"}),
                {"--max-stalness", "did you mean \"--max-staleness\"?"});
  check_refused(line({"clean", "--parametrization", "exp"}), {"--parametrization has no effect for clean"});
  check_refused(line({"clean", "stray"}), {"unexpected argument \"stray\""});
  check_refused(line({"clean", "--seed"}), {"--seed"});
  check_refused(line({"clean", "--set", "seed"}), {"--set seed", "key=value"});
  check_refused(line({"run"}), {"run: the file of settings is missing"});
  check_refused(line({"run", "a.toml", "--config", "b.toml"}), {"without a flag, as in adbo run FILE"});
  check_refused(line({"compare", "--method-s", "auto"}), {"did you mean \"--methods\"?"});
}

TEST_CASE("command line: help and version are texts, not runs") {
  const CommandLine help = parse_command_line({"clean", "--help"});
  CHECK(!help.command);
  CHECK(contains(help.text, "--max-staleness"));
  CHECK(contains(help.text, "Longest silence of a worker"));
  CHECK(!contains(help.text, "--parametrization"));
  const CommandLine version = parse_command_line({"--version"});
  CHECK(!version.command);
  CHECK(contains(version.text, "adbo "));
}

TEST_CASE("configuration files: values, tables, places") {
  const std::vector<Assignment> entries = parse_config(
      "problem = \"tune\"\nmax_staleness = 7\n[steps]\nstep_upper_local = 1e-3\nper_class = true\n",
      "run.toml");
  REQUIRE(entries.size() == 4);
  for (const Assignment& entry : entries) {
    if (entry.name == "problem") CHECK(entry.value == "tune");
    if (entry.name == "max_staleness") CHECK(entry.value == "7");
    if (entry.name == "step_upper_local") CHECK(entry.value == "0.001");
    if (entry.name == "per_class") {
      CHECK(entry.value == "true");
      CHECK(entry.place == "run.toml:5:1");
    }
  }
  const Settings settings = resolve_settings(std::nullopt, {.file = entries});
  CHECK(settings.task().problem == ProblemKind::kTune);
  CHECK(settings.options().max_staleness == 7);
}

TEST_CASE("configuration files: strings and comments may hold what nothing else may") {
  const std::vector<Assignment> entries = parse_config(
      "a = \"d\xc3\xa9j\xc3\xa0 # [@\" # \xc3\xbd [@\nb = 'x\\'\n\"c\" = \"\"\"two\n[@lines\"\"\"\r\n",
      "run.toml");
  REQUIRE(entries.size() == 3);
  CHECK(entries[0].value == "d\xc3\xa9j\xc3\xa0 # [@");
  CHECK(entries[1].value == "x\\");
  CHECK(entries[2].value == "two\n[@lines");
}

TEST_CASE("configuration files: what is refused, and where") {
  check_refused([] { (void)parse_config("a = \n", "run.toml"); }, {"run.toml:1:"});
  check_refused([] { (void)parse_config("a = [1, 2]\n", "run.toml"); }, {"run.toml:1:5", "a number, a text"});
  check_refused([] { (void)parse_config("bounds = [-12, 12]\n", "run.toml"); },
                {"run.toml:1:10", "\"-12,12\""});
  check_refused([] { (void)parse_config("a = \"x\\u0000y\"\n", "run.toml"); },
                {"run.toml:1:1", "null character"});
  check_refused([] { (void)parse_config("[a.b]\nc = 1\n", "run.toml"); }, {"tables within tables"});
  check_refused([] { (void)parse_config("a = 1\na = 2\n", "run.toml"); }, {"run.toml:2:"});
  check_refused([] { (void)parse_config("a = 1\n[itd]\nstep_upper = 1\n", "run.toml"); },
                {"run.toml:2", "[itd]", "--set itd.option=value"});
  // What the parser of toml++ 3.3 does not refuse by itself.
  check_refused(
      [] {
        (void)parse_config(
            "a = 1\n[\x01"
            "b]\n",
            "run.toml");
      },
      {"run.toml:2:2", "0x01"});
  check_refused([] { (void)parse_config("a = 1\n [@b]\n", "run.toml"); }, {"run.toml:2", "no TOML"});
  check_refused(
      [] {
        (void)parse_config(
            "a = \xc3\xbd"
            "5\n",
            "run.toml");
      },
      {"run.toml:1:5", "0xc3"});
  check_refused([] { (void)parse_config("a = 1\"<\"\n", "run.toml"); },
                {"run.toml:1:6", "no string can begin"});
  check_refused([] { (void)read_config_file("/nowhere/run.toml"); }, {"/nowhere/run.toml", "cannot be read"});
}

TEST_CASE("configuration files: what the parser refuses names the setting and how its value can be given") {
  check_refused([] { (void)parse_config("seed = 1\nproblem = quadratic # the small one\n", "run.toml"); },
                {"run.toml:2:", "problem: ", "problem = \"quadratic\""});
  check_refused([] { (void)parse_config("seed = 18446744073709551615", "run.toml"); },
                {"run.toml:1:", "seed: ", "seed = \"18446744073709551615\""});
  CHECK(parse_config("seed = \"18446744073709551615\"\n", "run.toml").front().value ==
        "18446744073709551615");
  check_refused([] { (void)parse_config("\n\nbounds = -1,000\n", "run.toml"); },
                {"run.toml:3:", "bounds: ", "a number, a text"});
  try {
    (void)parse_config("a = 1\na = 2\n", "run.toml");
    FAIL("was not refused");
  } catch (const UsageError& error) {
    CHECK(std::string(error.what()).find("in quotes") == std::string::npos);  // it would not help
  }
  // Nothing that a terminal would obey, and nothing without end.
  for (const std::string& odd : {std::string("a\x1b[2J = 0x\n"), std::string(100000, 'a') + " = b\n",
                                 "a = b" + std::string(100000, 'c') + "\n"}) {
    CAPTURE(odd.size());
    try {
      (void)parse_config(odd, "run.toml");
      FAIL("was not refused");
    } catch (const UsageError& error) {
      const std::string message = error.what();
      CHECK(message.find('\x1b') == message.npos);
      CHECK(message.size() < 300);
    }
  }
}

TEST_CASE(
    "configuration files: a character beyond ASCII where toml++ 3.3 looks for blanks or the end of a value") {
  for (const std::string before : {"a = \"\"\"b\\",
                                   "a = \"\"\"b\\ ",
                                   "a = \"\"\"b\\\n ",
                                   "a = \"\"\"b\\\v\n",
                                   "a = \"b\\",
                                   "a = 0{'",
                                   "a = {'",
                                   "a = ='",
                                   "a = [1, b='",
                                   "a = 0.'",
                                   "a = 0,'",
                                   "a = 1'",
                                   "a = 'b''",
                                   "a = ",
                                   "a",
                                   "a.",
                                   "[",
                                   "[a",
                                   "[a]",
                                   "",
                                   "a = 'b' ",
                                   "[a]'",
                                   "a 'b"}) {
    for (const std::string character :
         {"\xc2\xa0", "\xc3\xbd", "\xe3\x80\x80", "\xef\xb2\xbf", "\xf0\x9f\x98\x80"}) {
      CAPTURE(before);
      CHECK_THROWS_AS((void)parse_config(before + character + "'\n", "run.toml"), UsageError);
    }
  }
}

TEST_CASE("results that nobody takes: a fault, but for a run that a hangup ended") {
  std::ostringstream out, err;
  const Console console(out, err, false);
  deliver(console, "results\n", 0);
  CHECK(out.str() == "results\n");
  out.setstate(std::ios::badbit);
  CHECK_THROWS_AS(deliver(console, "results", 0), adbo::io::OutputError);
  CHECK_THROWS_AS(deliver(console, "results", SIGTERM), adbo::io::OutputError);
  deliver(console, "results", SIGHUP);
}

TEST_CASE("configuration files: tables without end, folders, files without end, names of megabytes") {
  std::string dotted;
  for (int k = 0; k < 200000; ++k) dotted += "a.";
  check_refused([&] { (void)parse_config(dotted + "a = 1\n", "run.toml"); },
                {"run.toml:1:", "tables within tables"});
  check_refused([&] { (void)parse_config("[" + dotted + "a]\n", "run.toml"); },
                {"run.toml:1:", "tables within tables"});
  CHECK(parse_config("seed = 0.5\nx = '1.2.3.4.5.6.7.8.9.10.11'\na.b = 1e-3\n", "run.toml").size() == 3);
  check_refused([] { (void)read_config_file("/tmp"); }, {"/tmp: is a folder"});
  check_refused([] { (void)read_config_file("/dev/zero"); },
                {"/dev/zero", "which no configuration file needs"});
  const Assignment endless{std::string(1000000, 'k'), "1", "run.toml:1:1"};
  check_refused([&] { (void)resolve_settings(ProblemKind::kTune, {.file = {endless}}); }, {"run.toml:1:1"});
}

TEST_CASE(
    "configuration files: characters beyond ASCII in strings, keys and comments, and a byte order mark") {
  const std::vector<Assignment> given = parse_config(
      "\xef\xbb\xbf# \xc3\xbd\ntrain = \"\xc3\xbd.csv\" # \xc3\xbd\n['t\xc3\xbd']\nid = \"\"\"x\\\n  y "
      "\xc3\xbd\"\"\"\n",
      "run.toml");
  REQUIRE(given.size() == 2);
  std::set<std::string> values;
  for (const Assignment& one : given) values.insert(one.value);
  CHECK(values == std::set<std::string>{"\xc3\xbd.csv", "xy \xc3\xbd"});
}

TEST_CASE("settings: a preset's number of awaited answers is not for methods that wait for everybody") {
  const auto active_of = [](std::vector<Assignment> flags) {
    return resolve_settings(ProblemKind::kTune, {.flags = std::move(flags)}).options().active_workers;
  };
  const Assignment preset{"preset", "paper/ijcnn1", "--preset"};
  CHECK(active_of({preset}) == 12);
  for (const char* method : {"sdbo", "fednest", "exact"}) {
    CHECK(active_of({preset, {"method", method, "--method"}}) == 0);
    CHECK(active_of({preset, {"method", method, "--method"}, {"active", "5", "--active"}}) ==
          5);  // refused later
  }
}

TEST_CASE("step candidates: the given settings first, more of them cover the same ranges more finely") {
  const auto candidates = [](std::vector<Assignment> flags, std::int64_t count) {
    return step_candidates(resolve_settings(ProblemKind::kTune, {.flags = std::move(flags)}), count);
  };
  const Assignment soba{"method", "soba", "--method"}, adbo{"method", "adbo", "--method"};
  const std::vector<StepCandidate> four = candidates({soba}, 4), eight = candidates({soba}, 8);
  REQUIRE(four.size() == 4);
  REQUIRE(eight.size() == 8);
  for (std::size_t k = 0; k < four.size(); ++k) CHECK(four[k].steps == eight[k].steps);
  CHECK(four[0].steps.empty());
  // The automatic step of y stays automatic; 0.1 10^(-2 + 5 / 2).
  REQUIRE(four[1].steps.size() == 1);
  CHECK(four[1].steps[0].first == "step_upper");
  CHECK(four[1].steps[0].second == doctest::Approx(0.1 * std::sqrt(10.0)));
  CHECK(four[1].lower_factor == 1);
  for (std::size_t k = 1; k < eight.size(); ++k) {
    CHECK(eight[k].steps[0].second > 1e-3);
    CHECK(eight[k].steps[0].second < 100);
  }
  // A step of y that is given is searched too, around what is given.
  const std::vector<StepCandidate> both = candidates({soba, {"step_lower", "2", "--step-lower"}}, 2);
  REQUIRE(both[1].steps.size() == 2);
  CHECK(both[1].steps[1].first == "step_lower");
  CHECK(both[1].steps[1].second == doctest::Approx(2 * std::pow(10.0, -0.5)));

  CHECK(candidates({adbo}, 3)[1].steps.size() == 4);
  CHECK(candidates({adbo, {"steps", "theorem2", "--steps"}}, 3).empty());
  CHECK(candidates({adbo, {"cuts", "implicit", "--cuts"}}, 3).empty());
  CHECK(
      candidates({adbo, {"cuts", "implicit", "--cuts"}, {"steps", "fixed", "--steps"}}, 3)[1].steps.size() ==
      2);
  for (const char* const method : {"auto", "async-hypergradient", "exact"}) {
    CHECK(candidates({{"method", method, "--method"}}, 3).empty());
  }
  CHECK(candidates({soba}, 0).empty());
}

TEST_CASE("step candidates: twice the steps, those that are as given included") {
  const Settings settings = resolve_settings(
      ProblemKind::kTune, {.flags = {{"method", "soba", "--method"}, {"step_lower", "2", "--step-lower"}}});
  const std::vector<StepCandidate> both = step_candidates(settings, 2);
  const StepValues given = doubled_steps(settings, both[0]), second = doubled_steps(settings, both[1]);
  REQUIRE(given.size() == 2);
  REQUIRE(second.size() == 2);
  CHECK(given[0].second == 0.2);
  CHECK(given[1].second == 4);
  for (std::size_t s = 0; s < 2; ++s) {
    CHECK(second[s].first == both[1].steps[s].first);
    CHECK(second[s].second == doctest::Approx(2 * both[1].steps[s].second));
  }
}

TEST_CASE("step search: as many runs for every method, a quarter of them trials") {
  for (const std::int64_t runs : {1, 3, 4, 5, 8, 100}) {
    const SearchBudget budget = search_budget(runs);
    CHECK(budget.candidates + budget.trials == runs);
    CHECK(budget.trials == runs / 4);
    CHECK(budget.candidates >= 1);
  }
}

TEST_CASE("step search: the best value wins until it fails a trial, and takes all longer steps with it") {
  const auto candidate = [](double upper, double lower) {
    return StepCandidate{.steps = {}, .upper_factor = upper, .lower_factor = lower};
  };
  const double none = std::numeric_limits<double>::quiet_NaN();
  CandidateRanking ranking;
  CHECK_FALSE(ranking.best());
  ranking.add(candidate(100, 1), none);  // diverged
  CHECK_FALSE(ranking.best());
  CHECK_FALSE(ranking.has_any_left());
  ranking.add(candidate(1, 1), 0.5);
  ranking.add(candidate(30, 1), 0.1);   // at the edge
  ranking.add(candidate(40, 1), 0.11);  // beyond it, and lucky
  ranking.add(candidate(10, 2), 0.2);
  ranking.add(candidate(30, 0.5), 0.3);  // as long a step of x, a shorter one of y
  CHECK(ranking.best() == 2);
  ranking.fail(2);
  CHECK(ranking.best() == 4);
  ranking.fail(4);
  CHECK(ranking.best() == 5);
  ranking.fail(5);
  CHECK(ranking.best() == 1);
  CHECK(ranking.has_any_left());
  ranking.fail(1);
  CHECK_FALSE(ranking.has_any_left());
  CHECK(ranking.best() == 1);  // the shortest
}
