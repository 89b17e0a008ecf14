#pragma once
// What the measures of a run mean, in plain sentences.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "adbo/measures.h"
#include "adbo/problems/hyper_cleaning.h"
#include "adbo/summary.h"
#include "output/held_out_facts.h"

namespace adbo::app {

/// Below this largest change of any upper coordinate a run is said not to have moved.
inline constexpr double kUpperHardlyMoved = 1e-3;

/// How the run ended, which of its states is delivered, and whether the upper variable moved.
[[nodiscard]] std::vector<std::string> run_words(const Summary& summary, Method method_asked,
                                                 const std::optional<HeldOutFacts>& held_out);

/// What a run says that was to hold validation rows out and has none to hold out.
[[nodiscard]] std::string nothing_held_out_words(double holdout);

/// Below this share of the training rows the effective number of them draws a warning: the learned weights
/// then rest on fewer rows than would be right with nine labels in ten wrong.
inline constexpr double kLeastEffectiveShare = 0.1;

struct CleaningFacts {
  bool validation_from_train = false;  ///< the trusted rows are part of --train
  double tolerance = 0;                ///< of the re-solves
  std::string why_quick{};             ///< why no model was re-trained; empty: they were
};
/// Whether cleaning was worth it, compared with the simple alternatives.
[[nodiscard]] std::vector<std::string> cleaning_words(const CleaningMeasures& measures,
                                                      const CleaningFacts& facts);

/// Whether the run improved what it was to choose (`what`), and where a re-solved lower level is in trouble.
/// `tolerance` is that of the re-solves.
[[nodiscard]] std::vector<std::string> value_function_words(const ValueFunction& end,
                                                            const ValueFunction& start, double tolerance,
                                                            std::string_view what);

/// Whether tuning was worth it. NaN accuracies do not apply; `tolerance` is that of the re-solves.
[[nodiscard]] std::vector<std::string> tuning_words(const ValueFunction& end, const ValueFunction& start,
                                                    double accuracy_end, double accuracy_start,
                                                    double tolerance = 0);

/// What is said of a model that is no better on the test rows than their most frequent label is; nothing of
/// others, and where no accuracy applies (NaN).
[[nodiscard]] std::string guess_words(double accuracy, std::span<const std::int32_t> test_labels);

/// What a run says whose lower level was not re-solved, and why that is.
[[nodiscard]] std::string quick_words(std::string_view why);

/// Why there is no value function, as tuning_words() says it; nothing where there is one.
[[nodiscard]] std::string trouble_words(const ValueFunction& at, std::string_view where);

}  // namespace adbo::app
