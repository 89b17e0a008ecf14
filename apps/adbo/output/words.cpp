#include "output/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "adbo/method_table.h"

namespace adbo::app {
namespace {

/// Accuracies this close are equal for every practical purpose.
constexpr double kAccuracyTie = 5e-4;

/// A fall by less than this share of the start value is none.
constexpr double kLeastFall = 1e-4;

/// A barrier that takes less of the run is not worth a word.
constexpr double kNoticeableBarrier = 0.1;

using Words = std::vector<std::string>;

void add_comparison_with_alternatives(Words& words, const CleaningMeasures& m) {
  if (!std::isfinite(m.test_accuracy_delivered)) {
    words.push_back("No test rows were given: whether cleaning improved the model is not known.");
    return;
  }
  const bool plain_is_best = m.test_accuracy_start >= m.test_accuracy_validation_only;
  const double best = std::max(m.test_accuracy_start, m.test_accuracy_validation_only);
  const std::string alternatives =
      plain_is_best
          ? fmt::format("plain training on all training rows ({:.4f}; on the validation rows alone {:.4f})",
                        m.test_accuracy_start, m.test_accuracy_validation_only)
          : fmt::format("training on the validation rows alone ({:.4f}; plain training {:.4f})",
                        m.test_accuracy_validation_only, m.test_accuracy_start);
  const double gain = m.test_accuracy_delivered - best;
  if (gain > kAccuracyTie) {
    words.push_back(fmt::format(
        "Cleaning paid: the delivered model's test accuracy {:.4f} is {:.4f} above the best simple "
        "alternative, {}.",
        m.test_accuracy_delivered, gain, alternatives));
    return;
  }
  words.push_back(
      fmt::format("Cleaning did not help: the delivered model's test accuracy {:.4f} {} that of {}.",
                  m.test_accuracy_delivered, gain >= -kAccuracyTie ? "equals" : "is below", alternatives));
}

void add_effective_rows(Words& words, const CleaningMeasures& m) {
  const auto rows = static_cast<double>(m.verdicts.given_probability.size());
  if (rows == 0 || m.effective_training_rows >= kLeastEffectiveShare * rows) return;
  words.push_back(fmt::format(
      "Warning: the learned weights rest on few rows, in effect {:.4g} of {} training rows: they "
      "may fit the chance of the validation rows (more of these, or a larger holdout, would tell).",
      m.effective_training_rows, rows));
}

void add_weights_alone(Words& words, const CleaningMeasures& m) {
  if (std::isfinite(m.test_accuracy_retrained) &&
      m.test_accuracy_retrained <= m.test_accuracy_start + kAccuracyTie) {
    words.push_back(
        fmt::format("The learned weights alone do not help: a model trained with them has test accuracy "
                    "{:.4f}, plain training {:.4f}.",
                    m.test_accuracy_retrained, m.test_accuracy_start));
  }
}

void add_detection(Words& words, const CleaningMeasures& m) {
  if (!std::isfinite(m.detection_auc) || !std::isfinite(m.detection_auc_plain)) return;
  const bool better = m.detection_auc > m.detection_auc_plain + kAccuracyTie;
  words.push_back(
      fmt::format("Ranking the rows by the delivered model finds the wrong labels with AUC {:.4f}, {} plain "
                  "training ({:.4f}).",
                  m.detection_auc, better ? "better than" : "no better than", m.detection_auc_plain));
}

void add_true_mask(Words& words, const CleaningMeasures& m) {
  const double left = m.test_accuracy_true_mask - m.test_accuracy_retrained;
  if (std::isfinite(left) && left > kAccuracyTie) {
    words.push_back(
        fmt::format("Knowing which labels are wrong would give {:.4f}: {:.4f} more than the learned weights.",
                    m.test_accuracy_true_mask, left));
  }
}

void add_value_function(Words& words, double end, double start, double tolerance, std::string_view what) {
  if (!std::isfinite(end) || !std::isfinite(start)) return;
  if (end != start && std::abs(end - start) < tolerance) {
    words.push_back(
        fmt::format("The change of the value function ({:.6g} at the start, {:.6g} at the end) is "
                    "below what was measured (measure_tolerance = {:.1e}): whether the run improved "
                    "the {} is not known.",
                    start, end, tolerance, what));
    return;
  }
  if (start - end >= kLeastFall * std::abs(start) && end < start) return;
  if (end < start) {
    words.push_back(fmt::format(
        "The value function hardly fell (from {:.10g} to {:.10g}, by less than {:g} of it): the run did "
        "next to nothing for the {}.",
        start, end, kLeastFall, what));
    return;
  }
  words.push_back(
      fmt::format("The value function did not fall ({:.6g} at the start, {:.6g} at the end): the run did not "
                  "improve the {}.",
                  start, end, what));
}

std::string how_it_ended(const Summary& summary) {
  if (!summary.message.empty()) return ", because " + summary.message;
  switch (summary.termination) {
    case Termination::kIterationLimit:
      return ", the limit";
    case Termination::kTimeLimit:
      return ", at the time limit";
    case Termination::kStopped:
      return ", as asked";
    case Termination::kConverged:
      return ", at the stationarity target";
    default:
      return "";
  }
}

void add_dropped(Words& words, const Summary& summary, std::string_view of_run) {
  for (const DroppedWorker& dropped : summary.dropped_workers) {
    words.push_back(
        fmt::format("Worker {} was dropped at iteration {}{} ({}): its rows taught nothing from then on.",
                    dropped.worker, dropped.iteration, of_run, dropped.why));
  }
}

void add_held_out(Words& words, const Summary& summary, const HeldOutFacts& held_out) {
  if (held_out.delivered_iteration < 0) {
    words.push_back("The loss on the held-out rows was never finite: the last state is delivered.");
    return;
  }
  if (held_out.refit) {
    words.push_back(fmt::format(
        "The held-out rows (loss {:.5g}, of the untrained model {:.5g}) chose the state after iteration {} "
        "of "
        "{}. Delivered is the result of a second run of as many iterations, with all validation rows.",
        held_out.loss, held_out.loss_start, held_out.delivered_iteration, summary.iterations));
    add_dropped(words, *held_out.refit, " of the second run");
    return;
  }
  if (held_out.cut_short) {
    words.push_back(
        fmt::format("The second run, with all validation rows, was cut short after {} of {} iterations ({}): "
                    "what follows is the first run's.",
                    held_out.cut_short->iterations, held_out.delivered_iteration, held_out.cut_short->why));
  }
  if (held_out.delivered_iteration == summary.iterations) {
    words.push_back(fmt::format(
        "Delivered is the last state, after iteration {} (loss on the held-out rows {:.5g}, of the model at "
        "the start {:.5g}).",
        summary.iterations, held_out.loss, held_out.loss_start));
    return;
  }
  words.push_back(
      fmt::format("Delivered is the state after iteration {}: the held-out rows (loss {:.5g}, at the start "
                  "{:.5g}) cannot "
                  "tell a later one from it. The run ended after iteration {}{}.",
                  held_out.delivered_iteration, held_out.loss, held_out.loss_start, summary.iterations,
                  how_it_ended(summary)));
}

}  // namespace

Words run_words(const Summary& summary, Method method_asked, const std::optional<HeldOutFacts>& held_out) {
  Words words;
  if (method_asked == Method::kAuto) {
    words.push_back(fmt::format("method = auto stands for {}.", method_name(kAutomaticMethod)));
  }
  if (summary.termination == Termination::kDiverged || summary.termination == Termination::kFailed ||
      summary.termination == Termination::kSolveFailed) {
    words.push_back("The run ended before its time: " + summary.message +
                    (held_out ? "." : ". The results are those of the last finite iterate."));
    const bool has_step = acts_on(*find_option("step_upper"), summary.method_used);
    if (summary.termination == Termination::kDiverged && has_step) {
      words.push_back("Shorter steps may keep it together: step_upper, step_lower.");
    }
  }
  if (summary.termination == Termination::kStalled) {
    words.push_back("The run stalled before its tolerance: " + summary.message + ".");
  }
  add_dropped(words, summary, "");
  if (held_out) add_held_out(words, summary, *held_out);
  if (summary.upper_change_max >= 0 && summary.upper_change_max < kUpperHardlyMoved) {
    words.push_back(
        fmt::format("The upper variable has hardly moved: its largest change is {:.3g}. Everything below is "
                    "in effect that of the start.",
                    summary.upper_change_max));
  }
  // Methods in rounds have nothing but barriers, and no cuts to do without.
  const bool has_cuts = acts_on(*find_option("cuts"), summary.method_used);
  if (has_cuts && summary.virtual_seconds > 0 &&
      summary.barrier_virtual_seconds > kNoticeableBarrier * summary.virtual_seconds) {
    words.push_back(fmt::format(
        "Of the run's {:.3g} s, {:.3g} s ({:.0f} percent) went into waiting for all workers: every "
        "update of the cuts needs them. cuts = implicit does without.",
        summary.virtual_seconds, summary.barrier_virtual_seconds,
        100 * summary.barrier_virtual_seconds / summary.virtual_seconds));
  }
  return words;
}

std::string nothing_held_out_words(double holdout) {
  return fmt::format(
      "No validation row could be held out (holdout = {}): every worker keeps at least one, and has too few "
      "to "
      "give any. Nothing judged the states of the run, so the last one is delivered; fewer workers or more "
      "validation rows would change that.",
      holdout);
}

Words cleaning_words(const CleaningMeasures& measures, const CleaningFacts& facts) {
  Words words;
  add_effective_rows(words, measures);
  if (facts.validation_from_train) {
    words.push_back(
        "The validation rows were taken from the training file: their labels are trusted as they stand and "
        "are not judged.");
  }
  if (!facts.why_quick.empty()) {
    words.push_back(quick_words(facts.why_quick));
    return words;
  }
  add_comparison_with_alternatives(words, measures);
  add_weights_alone(words, measures);
  add_true_mask(words, measures);
  add_detection(words, measures);
  add_value_function(words, measures.value_function, measures.value_function_start, facts.tolerance,
                     "weights");
  if (!measures.all_converged) {
    words.push_back(fmt::format(
        "Not every re-trained model reached the gradient norm {:.1e}: the worst stands at {} "
        "(measure_evaluations, measure_tolerance).",
        facts.tolerance,
        std::isfinite(measures.worst_gradient_norm) ? fmt::format("{:.1e}", measures.worst_gradient_norm)
                                                    : "no number"));
  }
  return words;
}

std::string guess_words(double accuracy, std::span<const std::int32_t> test_labels) {
  std::map<std::int32_t, std::size_t> counts;
  std::size_t most = 0;
  for (const std::int32_t label : test_labels) most = std::max(most, ++counts[label]);
  const double share =
      static_cast<double>(most) / static_cast<double>(std::max<std::size_t>(test_labels.size(), 1));
  if (!std::isfinite(accuracy) || accuracy > share) return {};
  return fmt::format(
      "The model is right on {:.4f} of the test rows; their most frequent label alone is on {:.4f}. Models "
      "have no "
      "intercept, and with standardized features unbalanced classes are beyond them: scale = none or unit, "
      "or a "
      "column of ones, may help.",
      accuracy, share);
}

std::string quick_words(std::string_view why) {
  return fmt::format(
      "Nothing was trained again ({}): model and verdicts are those of the run's own lower variable, and "
      "what the run is worth was not measured.",
      why);
}

std::string trouble_words(const ValueFunction& at, std::string_view where) {
  if (at.converged) return {};
  if (at.reason == "unbounded") {
    return fmt::format(
        "The lower level is unbounded {}: some coefficient is negative or zero and no best model exists "
        "(parametrization = exp or softplus keeps them positive).",
        where);
  }
  return fmt::format("The re-solved lower level {} did not converge ({}, gradient norm {:.1e}).", where,
                     at.reason, at.gradient_norm);
}

Words value_function_words(const ValueFunction& end, const ValueFunction& start, double tolerance,
                           std::string_view what) {
  Words words;
  for (const std::string& trouble :
       {trouble_words(start, "at the start"), trouble_words(end, "at the end")}) {
    if (!trouble.empty()) words.push_back(trouble);
  }
  add_value_function(words, end.upper_objective, start.upper_objective, tolerance, what);
  return words;
}

Words tuning_words(const ValueFunction& end, const ValueFunction& start, double accuracy_end,
                   double accuracy_start, double tolerance) {
  Words words = value_function_words(end, start, tolerance, "coefficients");
  if (!std::isfinite(accuracy_end)) return words;
  if (std::isfinite(accuracy_start) && accuracy_end <= accuracy_start + kAccuracyTie) {
    words.push_back(
        fmt::format("Tuning did not improve the test accuracy: {:.4f} at the start, {:.4f} at the end.",
                    accuracy_start, accuracy_end));
  }
  return words;
}

}  // namespace adbo::app
