#include "settings/effects.h"

#include <fmt/format.h>

#include <initializer_list>
#include <string>

#include "adbo/method_table.h"
#include "support/exit_code.h"

namespace adbo::app {
namespace {

/// `names` have no effect while `condition` holds.
void refuse_while(const Settings& settings, bool condition, std::string_view reason,
                  std::initializer_list<std::string_view> names) {
  if (!condition) return;
  for (const std::string_view name : names) {
    if (!settings.is_explicit(name)) continue;
    // A file is searched for the line; a flag or --set is before the user's eyes.
    const std::string line =
        settings.origin(name) == Origin::kFile ? fmt::format("{}: ", settings.place(name)) : std::string();
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
void check_options_of_methods(const Settings& settings) {
  const Method asked = settings.options().method, method = settled(asked);
  const std::string with_method =
      asked == Method::kAuto ? fmt::format("with method = auto, which stands for {}", method_name(method))
                             : fmt::format("with method = {}", method_name(method));
  for (const OptionInfo& info : option_table()) {
    if (acts_on(info, method)) continue;
    refuse_while(settings, true, fmt::format("{} (it acts on {})", with_method, methods_of(info)),
                 {info.name});
  }
}

/// Which of the cuts' options go with which construction of the cuts.
void check_cuts(const Settings& settings) {
  const Options& options = settings.options();
  const bool implicit = options.cuts == CutConstruction::kImplicit;
  refuse_while(settings, !implicit && acts_on(*find_option("cuts"), options.method), "unless cuts = implicit",
               {"lower_copies", "adjoint_damping"});
  refuse_while(settings, !implicit && options.multipliers == MultiplierRule::kExact, "with exact multipliers",
               {"step_cut_multiplier"});
  if (!implicit) return;
  refuse_while(settings, true, "with cuts = implicit",
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
  refuse_while(settings, options.steps == StepRule::kAuto, "with cuts = implicit and steps = auto",
               {"step_lower_local", "step_upper_consensus", "step_cut_multiplier"});
  refuse_while(settings, options.multipliers != MultiplierRule::kAscent, "with exact multipliers",
               {"step_cut_multiplier"});
}

void check_method(const Settings& settings) {
  const Options& options = settings.options();
  const bool constant = options.regularization == RegularizationSchedule::kConstant;
  refuse_while(settings, constant, "with regularization = constant",
               {"cut_regularization_floor", "dual_regularization_floor"});
  refuse_while(settings, !constant, "with regularization = decaying",
               {"cut_regularization", "dual_regularization"});
  const bool fixed = options.steps != StepRule::kTheorem2;
  refuse_while(settings, fixed, "unless steps = theorem2", {"smoothness", "drift_constant", "theorem_gamma"});
  refuse_while(settings, !fixed, "with steps = theorem2",
               {"step_upper_local", "step_lower_local", "step_upper_consensus", "step_lower_consensus",
                "step_cut_multiplier", "step_consensus_dual"});
}

void check_round_methods(const Settings& settings) {
  const Options& options = settings.options();
  refuse_while(settings, options.graph != GraphKind::kRandom, "unless graph = random", {"graph_probability"});
}

void check_execution(const Settings& settings) {
  refuse_while(settings, settings.options().executor == ExecutorKind::kInline, "with executor = inline",
               {"threads", "worker_deadline"});
}

void check_measures(const Settings& settings) {
  const TaskSettings& task = settings.task();
  if (task.measure != MeasureRule::kQuick) return;
  refuse_while(settings, true, "with measure = quick", {"deliver"});
  refuse_while(settings, task.resolve_every == 0, "with measure = quick",
               {"measure_tolerance", "measure_evaluations"});
}

void check_data(const Settings& settings) {
  const TaskSettings& task = settings.task();
  refuse_while(settings, task.train.empty(), "without train", {"train_labels"});
  refuse_while(settings, task.validation.empty(), "without validation", {"validation_labels"});
  refuse_while(settings, !task.validation.empty(), "with a validation file",
               {"validation_fraction", "split"});
  refuse_while(settings, task.holdout == 0, "with holdout = 0", {"patience", "after_holdout"});
  refuse_while(settings, task.test.empty(), "without test", {"test_labels", "evaluate_every"});
  refuse_while(settings, task.corrupt == 0, "with corrupt = 0", {"corrupt_rule"});
  refuse_while(settings, task.model == ModelRule::kLogistic, "with model = logistic", {"per_class"});
}

void check_output(const Settings& settings) {
  refuse_while(settings, settings.options().clock == ClockKind::kVirtual,
               "with clock = virtual, whose order is a matter of the seed", {"record"});
  refuse_while(settings, !settings.task().replay.empty(), "with a clock that replays a recording",
               {"record"});
  if (settings.task().quiet && settings.task().verbose) {
    throw UsageError("quiet and verbose exclude each other");
  }
  const bool asks_for_progress = settings.task().progress != ProgressMode::kNone;
  refuse_while(settings, settings.task().quiet && asks_for_progress, "with quiet", {"progress"});
}

}  // namespace

void refuse_settings_without_effect(const Settings& settings) {
  check_options_of_methods(settings);
  check_cuts(settings);
  check_method(settings);
  check_round_methods(settings);
  check_execution(settings);
  check_data(settings);
  check_measures(settings);
  check_output(settings);
}

}  // namespace adbo::app
