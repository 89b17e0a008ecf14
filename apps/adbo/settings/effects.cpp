#include "settings/effects.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>

#include "adbo/method_table.h"
#include "settings/setting_table.h"
#include "support/exit_code.h"

namespace adbo::app {
namespace {

/// What is to have an effect: all that was given, or of it the flags alone.
struct Asked {
  const Settings& settings;
  std::optional<std::span<const Assignment>> flags;

  [[nodiscard]] bool is_asked(std::string_view name) const {
    if (!flags) return settings.is_explicit(name);
    return std::any_of(flags->begin(), flags->end(), [name](const Assignment& flag) {
      const SettingInfo* const info = find_setting(flag.name);
      return info != nullptr && info->name == name;
    });
  }
};

/// `names` have no effect while `condition` holds.
void refuse_while(const Asked& asked, bool condition, std::string_view reason,
                  std::initializer_list<std::string_view> names) {
  if (!condition) return;
  for (const std::string_view name : names) {
    if (!asked.is_asked(name)) continue;
    // A file is searched for the line; a flag or --set is before the user's eyes.
    const std::string line = asked.settings.origin(name) == Origin::kFile
                                 ? fmt::format("{}: ", asked.settings.place(name))
                                 : std::string();
    throw UsageError(fmt::format("{}{} has no effect {}", line, name, reason));
  }
}

/// "adbo, sdbo": the methods that an option acts on.
std::string methods_of(const OptionInfo& option) {
  std::string list;
  for (const MethodInfo& info : method_table()) {
    if (info.method != Method::kAuto && acts_on(option, info.method)) {
      list += fmt::format("{}{}", list.empty() ? "" : ", ", info.name);
    }
  }
  return list;
}

/// The options that act on other methods than the chosen one.
void check_options_of_methods(const Asked& asked) {
  const Method named = asked.settings.options().method, method = settled(named);
  const std::string with_method =
      named == Method::kAuto ? fmt::format("with method = auto, which stands for {}", method_name(method))
                             : fmt::format("with method = {}", method_name(method));
  for (const OptionInfo& info : option_table()) {
    if (acts_on(info, method)) continue;
    refuse_while(asked, true, fmt::format("{} (it acts on {})", with_method, methods_of(info)), {info.name});
  }
}

/// Which of the cuts' options go with which construction of the cuts.
void check_cuts(const Asked& asked) {
  const Options& options = asked.settings.options();
  const bool implicit = options.cuts == CutConstruction::kImplicit;
  refuse_while(asked, !implicit && acts_on(*find_option("cuts"), options.method), "unless cuts = implicit",
               {"lower_copies", "adjoint_damping"});
  refuse_while(asked, !implicit && options.multipliers == MultiplierRule::kExact, "with exact multipliers",
               {"step_cut_multiplier"});
  if (!implicit) return;
  refuse_while(asked, true, "with cuts = implicit",
               {"regularization",
                "cut_regularization",
                "dual_regularization",
                "cut_regularization_floor",
                "dual_regularization_floor",
                "multiplier_bound",
                "dual_bound",
                "lower_rounds",
                "lower_penalty",
                "lower_round_order",
                "cut_phase",
                "lower_tolerance",
                "cut_rule",
                "drop_rule",
                "cut_barrier",
                "cut_gradient",
                "step_upper_local",
                "step_lower_consensus",
                "step_consensus_dual",
                "step_lower_dual"});
  refuse_while(asked, options.steps == StepRule::kAuto, "with cuts = implicit and steps = auto",
               {"step_lower_local", "step_upper_consensus", "step_cut_multiplier"});
  refuse_while(asked, options.multipliers != MultiplierRule::kAscent, "with exact multipliers",
               {"step_cut_multiplier"});
}

void check_method(const Asked& asked) {
  const Options& options = asked.settings.options();
  const bool constant = options.regularization == RegularizationSchedule::kConstant;
  refuse_while(asked, constant, "with regularization = constant",
               {"cut_regularization_floor", "dual_regularization_floor"});
  refuse_while(asked, !constant, "with regularization = decaying",
               {"cut_regularization", "dual_regularization"});
  const bool fixed = options.steps != StepRule::kTheorem2;
  refuse_while(asked, fixed, "unless steps = theorem2", {"smoothness", "drift_constant", "theorem_gamma"});
  refuse_while(asked, !fixed, "with steps = theorem2",
               {"step_upper_local", "step_lower_local", "step_upper_consensus", "step_lower_consensus",
                "step_cut_multiplier", "step_consensus_dual"});
}

/// Cleaning and tuning have upper objectives of y alone.
void check_upper_copies(const Asked& asked) {
  const Options& options = asked.settings.options();
  const bool eliminates = options.consensus == Consensus::kGeneral &&
                          asked.settings.task().problem != ProblemKind::kQuadratic &&
                          acts_on(*find_option("consensus"), options.method);
  constexpr std::string_view kReason =
      "with consensus = general, where workers need no copies of the upper variable";
  refuse_while(asked, eliminates, kReason, {"step_upper_local", "step_consensus_dual", "dual_bound"});
  refuse_while(asked, eliminates && options.steps != StepRule::kTheorem2, kReason,
               {"dual_regularization", "dual_regularization_floor"});
}

void check_round_methods(const Asked& asked) {
  const Options& options = asked.settings.options();
  const TaskSettings& task = asked.settings.task();
  const bool has_bounds = task.problem == ProblemKind::kTune &&
                          settled(task.bounds, task.parametrization).rule == BoundsRule::kGiven;
  refuse_while(asked, !has_bounds, "without bounds, of whose width it is a share", {"move_limit"});
  refuse_while(asked, options.graph != GraphKind::kRandom, "unless graph = random", {"graph_probability"});
}

void check_execution(const Asked& asked) {
  refuse_while(asked, asked.settings.options().executor == ExecutorKind::kInline, "with executor = inline",
               {"threads", "worker_deadline"});
}

void check_measures(const Asked& asked) {
  const TaskSettings& task = asked.settings.task();
  if (task.measure != MeasureRule::kQuick) return;
  refuse_while(asked, true, "with measure = quick", {"deliver"});
  refuse_while(asked, task.resolve_every == 0, "with measure = quick",
               {"measure_tolerance", "measure_evaluations"});
}

void check_data(const Asked& asked) {
  const TaskSettings& task = asked.settings.task();
  refuse_while(asked, task.train.empty(), "without train", {"train_labels"});
  refuse_while(asked, task.validation.empty(), "without validation", {"validation_labels"});
  refuse_while(asked, !task.validation.empty(), "with a validation file", {"validation_fraction", "split"});
  refuse_while(asked, task.holdout == 0, "with holdout = 0", {"patience", "after_holdout"});
  refuse_while(asked, task.test.empty(), "without test", {"test_labels", "evaluate_every"});
  refuse_while(asked, task.corrupt == 0, "with corrupt = 0", {"corrupt_rule"});
  refuse_while(asked, task.model == ModelRule::kLogistic, "with model = logistic", {"per_class"});
}

void check_output(const Asked& asked) {
  refuse_while(asked, asked.settings.options().clock == ClockKind::kVirtual,
               "with clock = virtual, whose order is a matter of the seed", {"record"});
  refuse_while(asked, !asked.settings.task().replay.empty(), "with a clock that replays a recording",
               {"record"});
  if (asked.settings.task().quiet && asked.settings.task().verbose) {
    throw UsageError("quiet and verbose exclude each other");
  }
  const bool asks_for_progress = asked.settings.task().progress != ProgressMode::kNone;
  refuse_while(asked, asked.settings.task().quiet && asks_for_progress, "with quiet", {"progress"});
}

void check_all(const Asked& asked) {
  check_options_of_methods(asked);
  check_cuts(asked);
  check_method(asked);
  check_upper_copies(asked);
  check_round_methods(asked);
  check_execution(asked);
  check_data(asked);
  check_measures(asked);
  check_output(asked);
}

}  // namespace

void refuse_settings_without_effect(const Settings& settings) { check_all({settings, std::nullopt}); }

void refuse_flags_without_effect(const Settings& settings, std::span<const Assignment> flags) {
  check_all({settings, flags});
}

}  // namespace adbo::app
