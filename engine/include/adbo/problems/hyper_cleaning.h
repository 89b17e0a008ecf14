#pragma once
// Data hyper-cleaning (917_27): one weight per training row, learned so that a softmax regression trained on
// the weighted rows does well on clean validation rows.

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "adbo/kernels/rows.h"
#include "adbo/measures.h"
#include "adbo/problem.h"

namespace adbo {

/// Rows with class labels in [0, classes).
struct LabelledRows {
  std::shared_ptr<const kernels::Rows> features;
  std::vector<std::int32_t> labels;
  [[nodiscard]] std::size_t size() const { return labels.size(); }
};

/// How the workers' means are summed: as they are (the paper), or weighted by N n_i / sum n, so that the
/// global problem is the pooled one whatever the split.
enum class ShardWeights { kEqual, kRows };

/// What one worker holds.
struct CleaningShard {
  LabelledRows train;       ///< may carry wrong labels
  LabelledRows validation;  ///< trusted
};

struct CleaningSettings {
  int classes = 2;
  double ridge = 0.001;  ///< C_r
  ShardWeights shard_weights = ShardWeights::kRows;
};

/// G_i(y) = s_i mean over validation rows of CE_j(y);
/// g_i(psi, y) = s'_i mean over training rows of sigmoid(psi_j) CE_j(y), + C_r ||y||^2.
/// The upper variable holds the shards' training rows one shard after the other (n = all training rows); y is
/// class after class, y[c * features + k] (m = classes * features). Shards share their matrices with the
/// problem. G_i does not depend on psi. Throws std::invalid_argument naming the shard that is empty, has a
/// label outside [0, classes) or another number of features than the first.
[[nodiscard]] Problem make_hyper_cleaning(const std::vector<CleaningShard>& shards,
                                          const CleaningSettings& settings);

/// A softmax regression fitted to weighted rows: min over y of
///   sum over parts p and their rows j of scale_p weight_pj CE_j(y), + ridge ||y||^2.
struct WeightedRows {
  const LabelledRows* rows = nullptr;
  std::span<const double> weights;  ///< [rows] or empty (1)
  double scale = 1;
};
struct ModelFit {
  std::vector<double> model;  ///< [classes * features]
  double gradient_norm = 0;
  std::int64_t evaluations = 0;
  bool converged = false;
  double seconds = 0;
};
/// Starts at `start` [classes * features] (zeros when empty). Parallel over the parts, the same bits for any
/// number of threads. Throws std::invalid_argument when the parts, weights or start do not fit together, and
/// GivenUp.
[[nodiscard]] ModelFit fit_softmax(const std::vector<WeightedRows>& parts, int classes, double ridge,
                                   std::span<const double> start, const ResolveOptions& options);

/// Accuracy and mean cross-entropy of a model on rows.
struct ModelScore {
  double accuracy = 0, loss = 0;
};
/// Throws std::invalid_argument when the model and the rows do not fit together. The same bits for any
/// `threads`.
[[nodiscard]] ModelScore score_model(std::span<const double> model, const LabelledRows& rows, int classes,
                                     std::int64_t threads = 0);

/// Row by row, what a model says of given labels.
struct RowVerdicts {
  std::vector<double> given_probability;      ///< the score: low = suspect
  std::vector<std::int32_t> predicted_label;  ///< the most probable class, the smallest of equals
  std::vector<std::uint8_t> is_suspect;       ///< by the rule of judge_rows()
};
/// A row is suspect when the model finds some other class at least three times as probable as the given one.
/// The rule needs no noise rate and compares a row with nothing but itself.
[[nodiscard]] RowVerdicts judge_rows(std::span<const double> model, const LabelledRows& rows, int classes,
                                     std::int64_t threads = 0);
/// The same from the probabilities [rows x classes], row after row, of any model.
[[nodiscard]] RowVerdicts judge_probabilities(std::span<const double> probability,
                                              std::span<const std::int32_t> labels, int classes);

/// Which training rows the delivered model learns from, beside all validation rows.
enum class DeliverRule {
  /// Those that judge_rows() does not find suspect under the mean of plain training's model and y*(psi), each
  /// with weight 1.
  kTrimmed,
  kWeighted,  ///< all, weighted by sigmoid(psi)
};

/// Everything algorithmic honesty asks of a cleaning run. NaN: does not apply.
///
/// Five models are fitted to optimality (ResolveOptions, C_r as in the problem):
///   retrained        the lower level at the final psi: y*(psi)
///   start            the lower level at the starting psi: plain training
///   true mask        the lower level with the rows whose label really changed left out
///   validation only  the validation rows, summed as in the upper level
///   delivered        the mean over training rows by DeliverRule and all validation rows
/// A value function is the upper objective (1/N) sum_i G_i at such a model. Detection is judged against the
/// rows whose label really changed: `detection_auc` and precision, recall and F1 by the delivered model's
/// verdicts, `detection_auc_weight` by psi alone, `detection_auc_plain` by the probabilities under plain
/// training.
struct CleaningMeasures {
  static constexpr double kNotApplicable = std::numeric_limits<double>::quiet_NaN();

  double value_function = kNotApplicable, value_function_start = kNotApplicable,
         value_function_true_mask = kNotApplicable;
  double test_accuracy_retrained = kNotApplicable, test_accuracy_delivered = kNotApplicable,
         test_accuracy_start = kNotApplicable, test_accuracy_validation_only = kNotApplicable,
         test_accuracy_true_mask = kNotApplicable, test_accuracy_at_consensus = kNotApplicable,
         test_loss_at_consensus = kNotApplicable;
  double detection_auc = kNotApplicable, detection_auc_weight = kNotApplicable,
         detection_auc_plain = kNotApplicable;
  double detection_precision = kNotApplicable, detection_recall = kNotApplicable,
         detection_f1 = kNotApplicable;
  /// (sum w)^2 / sum w^2 of the weights w = sigmoid(psi): as many equally weighted rows tell as much.
  double effective_training_rows = 0;
  double seconds = 0;          ///< what computing all this took
  bool all_converged = false;  ///< every fit above, to the tolerance
  double worst_gradient_norm = 0;
  std::vector<double> delivered_model;  ///< [classes * features]
  RowVerdicts verdicts;  ///< of the training rows, shard after shard, under the delivered model
};

/// The models that do not depend on what a method found, [classes * features] each: the same for every run on
/// the same data, so that several runs may share them.
struct CleaningBaselines {
  std::vector<double> plain;            ///< y* at the starting psi: plain training
  std::vector<double> validation_only;  ///< of the validation rows alone
  std::vector<double> true_mask;        ///< without the rows whose label changed; empty: none is known
  double plain_seconds = 0, validation_only_seconds = 0;  ///< what fitting them took
  bool all_converged = true;
  double worst_gradient_norm = 0;
};

struct CleaningMeasuresInput {
  const std::vector<CleaningShard>* shards = nullptr;
  CleaningSettings settings;
  std::span<const double> upper;                ///< final psi, [n]
  std::span<const double> upper_start;          ///< psi at the start, [n]; empty: zeros
  std::span<const double> lower_consensus;      ///< z, [m]; empty: the at-consensus measures do not apply
  const LabelledRows* test = nullptr;           ///< null: no test measures
  std::span<const std::uint8_t> label_changed;  ///< [n], empty unless the run itself made the corruption
  DeliverRule deliver = DeliverRule::kTrimmed;
  const CleaningBaselines* baselines = nullptr;  ///< of the same data; null: they are fitted
  /// kQuick: the model delivered and judged is `lower_consensus`.
  MeasureDepth depth = MeasureDepth::kFull;
};
/// Fits the baselines; of the input, `upper`, `lower_consensus`, `test`, `deliver` and `baselines` are not
/// looked at. The same bits for any number of threads. Throws as measure_cleaning() does.
[[nodiscard]] CleaningBaselines fit_cleaning_baselines(const CleaningMeasuresInput& input,
                                                       const ResolveOptions& options);
/// The same bits for any number of threads, with baselines given or fitted: these do not depend on `upper` or
/// `lower_consensus`, so that they are equal for all methods compared on the same data. Throws
/// std::invalid_argument when the input does not fit together, and GivenUp.
[[nodiscard]] CleaningMeasures measure_cleaning(const CleaningMeasuresInput& input,
                                                const ResolveOptions& options);

}  // namespace adbo
