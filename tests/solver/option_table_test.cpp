#include "adbo/option_table.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>

namespace {

using adbo::OptionInfo;
using adbo::Options;
using adbo::Status;
using adbo::StatusCode;

bool contains(const std::string& text, std::string_view piece) {
  return text.find(piece) != std::string::npos;
}

/// Refused as an option, with every one of these pieces in the message.
void check_refused(const Status& status, std::initializer_list<std::string_view> pieces) {
  CHECK(status.code() == StatusCode::kInvalidOption);
  for (const std::string_view piece : pieces) {
    INFO("message: ", status.message(), "; piece: ", std::string(piece));
    CHECK(contains(status.message(), piece));
  }
}

bool is_number(const OptionInfo& info) {
  return !std::holds_alternative<OptionInfo::Choice>(info.member) &&
         !std::holds_alternative<std::string Options::*>(info.member);
}

Status set(std::string_view name, std::string_view value) {
  Options options;
  return adbo::set_option(options, name, value);
}

}  // namespace

TEST_CASE("option table: every member of Options has a row, and every name is unique") {
  // As many as Options has members: one that is added there has to come here.
  CHECK(adbo::option_table().size() == 73);
  std::set<std::string> names;
  for (const OptionInfo& info : adbo::option_table()) {
    CHECK(names.insert(std::string(info.name)).second);
    for (const std::string_view alias : info.aliases) CHECK(names.insert(std::string(alias)).second);
    CHECK(!info.sentence.empty());
    CHECK(info.sentence.back() == '.');
    CHECK(!info.group.empty());
  }
}

TEST_CASE("option table: the defaults are valid and survive a round trip through text") {
  const Options defaults;
  CHECK(adbo::validate_options(defaults, 18).ok());
  for (const OptionInfo& info : adbo::option_table()) {
    Options options;
    const std::string value = adbo::option_value(defaults, info);
    const Status status = adbo::set_option(options, info.name, value);
    INFO(std::string(info.name), " = ", value, ": ", status.message());
    CHECK(status.ok());
    CHECK(adbo::option_value(options, info) == value);
  }
}

TEST_CASE("option table: each row sets its own member and no other") {
  for (const OptionInfo& info : adbo::option_table()) {
    INFO(std::string(info.name));
    Options options;
    std::string other;
    if (info.name == "delay") {
      other = "lognormal:1.25,0.5";
    } else if (info.name == "stragglers") {
      other = "2:4";
    } else if (!info.choices.empty()) {
      const std::string current = adbo::option_value(options, info);
      for (const std::string_view choice : info.choices) {
        if (choice != current) other = choice;
      }
    } else {
      // Within a narrow range a number that is nobody's default.
      other = info.highest < 7 ? std::to_string(0.8 * info.lowest + 0.2 * info.highest) : "7";
    }
    REQUIRE(adbo::set_option(options, info.name, other).ok());
    const Options defaults;
    for (const OptionInfo& row : adbo::option_table()) {
      const bool changed = adbo::option_value(options, row) != adbo::option_value(defaults, row);
      CHECK(changed == (row.name == info.name));
    }
  }
}

TEST_CASE("option table: every choice can be set and read back") {
  for (const OptionInfo& info : adbo::option_table()) {
    if (!std::holds_alternative<OptionInfo::Choice>(info.member)) continue;
    for (const std::string_view choice : info.choices) {
      Options options;
      CHECK(adbo::set_option(options, info.name, choice).ok());
      CHECK(adbo::option_value(options, info) == choice);
    }
  }
}

TEST_CASE("option table: the limits themselves are accepted, the numbers beyond are not") {
  for (const OptionInfo& info : adbo::option_table()) {
    if (!is_number(info)) continue;
    INFO(std::string(info.name));
    REQUIRE(std::isfinite(info.lowest));
    const auto lowest = static_cast<long long>(info.lowest);
    CHECK(set(info.name, std::to_string(lowest)).ok() == !info.lowest_exclusive);
    check_refused(set(info.name, std::to_string(lowest - 1)), {info.name, std::to_string(lowest - 1), ">"});
    if (std::isfinite(info.highest)) {
      const auto highest = static_cast<long long>(info.highest);
      CHECK(set(info.name, std::to_string(highest)).ok());
      check_refused(set(info.name, std::to_string(highest + 1)), {"<= " + std::to_string(highest)});
    }
  }
}

TEST_CASE("option table: parsing is strict") {
  for (const char* const text : {"", " 5", "5 ", "+5", "5.5", "5x", "0x5", "1e2", "99999999999999999999"}) {
    INFO("text: ", text);
    CHECK(!set("max_staleness", text).ok());
  }
  for (const char* const text :
       {"", " 1", "1 ", "+1", "1,5", "nan", "inf", "-inf", "1e999", "0x1p3", "one"}) {
    INFO("text: ", text);
    CHECK(!set("step_upper_local", text).ok());
  }
  CHECK(set("step_upper_local", "1e-3").ok());
  CHECK(set("seed", "18446744073709551615").ok());
  CHECK(!set("seed", "18446744073709551616").ok());
  CHECK(!set("seed", "-1").ok());
  check_refused(set("method", "adob"), {"method", "\"adob\"", "auto, adbo, sdbo"});
  check_refused(set("tau", "-1"), {"max_staleness", "\"-1\"", "an integer >= 0"});
}

TEST_CASE("option table: a refused value leaves the options as they were") {
  Options options;
  options.max_staleness = 3;
  CHECK(!adbo::set_option(options, "max_staleness", "-1").ok());
  CHECK(!adbo::set_option(options, "delay", "normal:1,2").ok());
  CHECK(options.max_staleness == 3);
  CHECK(options.delay == "none");
}

TEST_CASE("option table: the authors' names are aliases") {
  const std::pair<const char*, const char*> aliases[] = {
      {"w_lr", "step_lower_local"},
      {"hp_lr", "step_upper_local"},
      {"z_lr", "step_lower_consensus"},
      {"v_lr", "step_upper_consensus"},
      {"lbda_lr", "step_cut_multiplier"},
      {"theta_lr", "step_consensus_dual"},
      {"phi_lr", "step_lower_dual"},
      {"pre_epochs", "cut_interval"},
      {"phix_iter", "lower_rounds"},
      {"tau", "max_staleness"},
      {"S", "active_workers"},
      {"active", "active_workers"},
      {"active_set", "active_workers"},
      {"mu", "lower_penalty"},
      {"c1", "cut_regularization"},
      {"c2", "dual_regularization"},
  };
  for (const auto& [alias, name] : aliases) {
    const OptionInfo* const info = adbo::find_option(alias);
    REQUIRE(info != nullptr);
    CHECK(info->name == name);
  }
}

TEST_CASE("option table: hyphens and underscores are alike, capitals are not") {
  CHECK(adbo::find_option("max-staleness") == adbo::find_option("max_staleness"));
  CHECK(adbo::find_option("max-staleness") != nullptr);
  CHECK(adbo::find_option("Max_staleness") == nullptr);
  CHECK(adbo::find_option("s") == nullptr);
  CHECK(adbo::find_option("") == nullptr);
}

TEST_CASE("option table: misspelt names") {
  CHECK(adbo::nearest_option("max_stalness") == "max_staleness");
  CHECK(adbo::nearest_option("max-stalenses") == "max_staleness");  // swapped neighbours, hyphen
  CHECK(adbo::nearest_option("w_rl") == "w_lr");
  CHECK(adbo::nearest_option("Iterations") == "iterations");
  CHECK(adbo::nearest_option("cut_intervall") == "cut_interval");
  CHECK(adbo::nearest_option("potato").empty());
  CHECK(adbo::nearest_option("").empty());
  check_refused(set("iteratoins", "5"), {"iteratoins", "did you mean \"iterations\"?"});
  const Status far = set("potato", "5");
  check_refused(far, {"potato"});
  CHECK(!contains(far.message(), "did you mean"));
}

TEST_CASE("validation: ranges hold for options that were filled in by hand") {
  Options options;
  options.max_staleness = -1;
  check_refused(adbo::validate_options(options, 18), {"max_staleness", "\"-1\"", ">= 0"});
  options = {};
  options.step_lower_local = std::numeric_limits<double>::quiet_NaN();
  check_refused(adbo::validate_options(options, 18), {"step_lower_local", "nan"});
  options = {};
  options.theorem_gamma = 2;
  check_refused(adbo::validate_options(options, 18), {"theorem_gamma", "> 2"});
  options = {};
  options.method = static_cast<adbo::Method>(99);
  check_refused(adbo::validate_options(options, 18), {"method", "99"});
  options = {};
  options.delay = "lognormal:3.5";
  check_refused(adbo::validate_options(options, 18), {"delay", "lognormal:3.5", "lognormal:MU,SIGMA"});
}

TEST_CASE("validation: S and the number of workers, both named") {
  Options options;
  options.active_workers = 18;
  CHECK(adbo::validate_options(options, 18).ok());
  options.active_workers = 19;
  check_refused(adbo::validate_options(options, 18), {"active_workers = 19", "18 workers", "1 to 18"});
}

TEST_CASE("validation: sdbo waits for everybody") {
  Options options;
  options.method = adbo::Method::kSdbo;
  CHECK(adbo::validate_options(options, 4).ok());
  options.active_workers = 4;
  CHECK(adbo::validate_options(options, 4).ok());
  options.active_workers = 3;
  check_refused(adbo::validate_options(options, 4), {"active_workers = 3", "sdbo", "4 workers"});
}

TEST_CASE("validation: delays and stragglers") {
  Options options;
  options.delay = "lognormal:3.5,1";
  options.stragglers = "3:4";
  CHECK(adbo::validate_options(options, 3).ok());
  check_refused(adbo::validate_options(options, 2), {"stragglers", "3:4", "2 workers"});
  options.delay = "none";
  check_refused(adbo::validate_options(options, 3), {"stragglers", "no effect", "delay = none"});
  options.stragglers = "3:0";
  check_refused(adbo::validate_options(options, 3), {"stragglers", "3:0", "K:FACTOR"});
  options.stragglers = "3:-1";
  CHECK(!adbo::validate_options(options, 3).ok());
}

TEST_CASE("validation: exact multipliers need implicit cuts, or cpbo, and not too many cuts") {
  Options options;
  options.method = adbo::Method::kAdbo;
  options.multipliers = adbo::MultiplierRule::kExact;
  check_refused(adbo::validate_options(options, 4), {"multipliers = exact", "cuts = implicit"});
  options.method = adbo::Method::kCpbo;
  CHECK(adbo::validate_options(options, 4).ok());
  options.max_cuts = 101;
  check_refused(adbo::validate_options(options, 4), {"max_cuts = 101", "multipliers = exact", "at most 100"});
  options.multipliers = adbo::MultiplierRule::kAscent;
  CHECK(adbo::validate_options(options, 4).ok());
}

TEST_CASE("validation: combinations without meaning") {
  Options options;
  options.lower_round_order = adbo::LowerRoundOrder::kDualFirst;
  check_refused(adbo::validate_options(options, 4), {"cut_gradient = exact", "lower_round_order = paper"});
  options.cut_gradient = adbo::CutGradient::kLocal;
  CHECK(adbo::validate_options(options, 4).ok());

  options = {};
  options.steps = adbo::StepRule::kTheorem2;
  check_refused(adbo::validate_options(options, 4), {"theorem2", "cut_regularization_floor"});
  options.cut_regularization_floor = 0.01;
  check_refused(adbo::validate_options(options, 4), {"theorem2", "dual_regularization_floor"});
  options.dual_regularization_floor = 0.01;
  CHECK(adbo::validate_options(options, 4).ok());
  options.regularization = adbo::RegularizationSchedule::kConstant;
  check_refused(adbo::validate_options(options, 4), {"theorem2", "regularization = decaying"});

  options = {};
  options.stationarity_target = 1e-3;
  check_refused(adbo::validate_options(options, 4), {"stationarity_target", "stationarity_interval >= 1"});
  options.stationarity_interval = 10;
  CHECK(adbo::validate_options(options, 4).ok());
}

TEST_CASE("presets: every value is one the table accepts, and the whole is valid") {
  CHECK(adbo::presets().size() == 13);
  for (const adbo::Preset& preset : adbo::presets()) {
    INFO(std::string(preset.name));
    Options options;
    std::set<std::string> seen;
    for (const auto& [name, value] : preset.values) {
      const OptionInfo* const info = adbo::find_option(name);
      REQUIRE(info != nullptr);
      CHECK(info->name == name);
      CHECK(seen.insert(std::string(name)).second);
      CHECK(adbo::set_option(options, name, value).ok());
    }
    const Status status = adbo::validate_options(options, static_cast<std::size_t>(preset.num_workers));
    INFO(status.message());
    CHECK(status.ok());
    CHECK(adbo::find_preset(preset.name) == &preset);
    CHECK((preset.task == "clean" || preset.task == "tune"));
  }
  CHECK(adbo::find_preset("paper/mnits") == nullptr);
}

TEST_CASE("presets: the paper's table of step sizes") {
  const auto options_of = [](std::string_view preset) {
    Options options;
    for (const auto& [name, value] : adbo::find_preset(preset)->values) {
      REQUIRE(adbo::set_option(options, name, value).ok());
    }
    return options;
  };
  const Options australian = options_of("paper/australian");
  CHECK(australian.step_cut_multiplier == 5);
  CHECK(australian.step_upper_local == 0.001);
  CHECK(australian.active_workers == 2);
  CHECK(australian.max_staleness == 5);
  const Options ijcnn1 = options_of("paper/ijcnn1");
  CHECK(ijcnn1.step_upper_local == 0.01);
  CHECK(ijcnn1.step_lower_local == 0.005);
  CHECK(ijcnn1.step_upper_consensus == 0.01);
  CHECK(ijcnn1.step_lower_consensus == 0.005);
  CHECK(ijcnn1.step_consensus_dual == 0.01);
  CHECK(options_of("paper/cifar10").max_staleness == 5);
  CHECK(options_of("paper/covtype").step_lower_local == 0.02);
  const Options soba = options_of("benchopt/ijcnn1-soba");  // step_size 2^-5, outer_ratio 0.01
  CHECK(soba.step_lower == 0.03125);
  CHECK(soba.step_upper == doctest::Approx(soba.step_lower / 0.01));
  CHECK(options_of("benchopt/ijcnn1-amigo").step_upper == doctest::Approx(0.125 / std::sqrt(0.1)));
  const Options code = options_of("code/mnist");
  CHECK(code.cut_regularization == 0.04);
  CHECK(code.dual_regularization == 0.002);
  CHECK(code.cut_phase == adbo::CutPhase::kFromStart);
  CHECK(code.cut_gradient == adbo::CutGradient::kLocalFrozen);
  CHECK(code.seed == 34);
  CHECK(options_of("code/ijcnn1").lower_penalty == 5);
}
