#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "adbo/measures.h"
#include "adbo/problems/hyper_cleaning.h"
#include "problems/labelled_rows.h"
#include "problems/ordered_sum.h"
#include "problems/sigmoid.h"
#include "problems/softmax_fit.h"

namespace adbo {
namespace {

/// The odds against a label that make it suspect. Of the rules tried (any other class more probable; the
/// other class's average self-confidence reached; a share of the given class's own; Otsu's threshold; odds of
/// 2 to 12) this one had the best worst case of F1 over seven data sets with 0.05 to 0.4 of the labels
/// changed, and a mean within 0.01 of the best.
constexpr double kSuspectOdds = 3;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

bool is_contradicted(std::span<const double> probability, std::size_t given) {
  return std::any_of(probability.begin(), probability.end(),
                     [&](double other) { return other >= kSuspectOdds * probability[given] && other > 0; });
}

/// The fits and scores of one finished cleaning run. Losses are built once and serve every fit.
class CleaningMeasurement {
 public:
  CleaningMeasurement(const CleaningMeasuresInput& input, const ResolveOptions& options)
      : input_(input),
        shards_(*input.shards),
        options_(options),
        totals_(detail::check_shards(std::span<const CleaningShard>(shards_), input.settings.classes)),
        executor_(detail::make_measure_executor(options.threads, 2 * shards_.size())) {
    check_data();
    measures_.all_converged = true;
    train_.reserve(shards_.size());
    validation_.reserve(shards_.size());
    for (const CleaningShard& shard : shards_) {
      train_.push_back(loss_of(shard.train));
      validation_.push_back(loss_of(shard.validation));
      labels_.insert(labels_.end(), shard.train.labels.begin(), shard.train.labels.end());
    }
    if (input.test != nullptr) test_.emplace(loss_of(*input.test));
  }

  // Each fit starts at an earlier one's solution. With a ridge the objective is strongly convex: the start
  // decides how long a fit takes, not where it ends, and "converged" means the same gradient norm. (Without
  // one, every fit starts at zero, because of several minimizers the start would choose.) No fit starts at
  // the method's own iterate: the baselines are then the same, to the last bit, for every method compared on
  // the same data.
  CleaningBaselines fit_baselines() {
    CleaningBaselines baselines;
    auto begin = Clock::now();
    baselines.plain = fit_training(weights_of(input_.upper_start), {});
    baselines.plain_seconds = seconds_since(begin);
    begin = Clock::now();
    baselines.validation_only = fit_validation(baselines.plain);
    baselines.validation_only_seconds = seconds_since(begin);
    if (!input_.label_changed.empty()) baselines.true_mask = fit_training(true_mask(), baselines.plain);
    baselines.all_converged = measures_.all_converged;
    baselines.worst_gradient_norm = measures_.worst_gradient_norm;
    return baselines;
  }

  CleaningMeasures run() {
    check_result();
    if (input_.depth == MeasureDepth::kQuick) return run_quick();
    return input_.baselines != nullptr ? run(*input_.baselines) : run(fit_baselines());
  }

 private:
  CleaningMeasures run_quick() {
    require(input_.lower_consensus.size(), model_size(), "the lower consensus");
    measures_.effective_training_rows = effective_rows(weights_of(input_.upper));
    deliver({input_.lower_consensus.begin(), input_.lower_consensus.end()});
    measure_consensus();
    if (!input_.label_changed.empty()) measure_detection();
    return std::move(measures_);
  }

  void deliver(std::vector<double> model) {
    measures_.delivered_model = std::move(model);
    measures_.test_accuracy_delivered = test_accuracy(measures_.delivered_model);
    measures_.verdicts = judge_probabilities(probabilities(measures_.delivered_model), labels_, classes());
  }

  CleaningMeasures run(const CleaningBaselines& baselines) {
    check_baselines(baselines);
    measure_baselines(baselines);
    const std::vector<double>& plain = baselines.plain;

    const std::vector<double> weights = weights_of(input_.upper);
    const std::vector<double> retrained = fit_training(weights, plain);
    measures_.value_function = validation_loss(retrained);
    measures_.test_accuracy_retrained = test_accuracy(retrained);

    measures_.effective_training_rows = effective_rows(weights);
    deliver(input_.deliver == DeliverRule::kWeighted
                ? fit_delivered(weights, baselines.validation_only)
                : fit_delivered(unsuspected(mean_model(plain, retrained)), retrained));

    if (!input_.lower_consensus.empty()) measure_consensus();
    if (!input_.label_changed.empty()) {
      measure_detection();
      measures_.detection_auc_plain =
          auc_of_low(judge_probabilities(probabilities(plain), labels_, classes()).given_probability,
                     input_.label_changed);
    }
    return std::move(measures_);
  }

  [[nodiscard]] int classes() const { return input_.settings.classes; }

  [[nodiscard]] kernels::SoftmaxLoss loss_of(const LabelledRows& rows) const {
    return {rows.features, rows.labels, classes()};
  }

  static void require(std::size_t given, std::size_t expected, const char* what) {
    if (given != expected) {
      throw std::invalid_argument(std::string("measure_cleaning: ") + what + " has " + std::to_string(given) +
                                  " entries, expected " + std::to_string(expected));
    }
  }

  [[nodiscard]] std::size_t model_size() const {
    return static_cast<std::size_t>(classes()) * totals_.features;
  }

  void check_data() const {
    if (!input_.upper_start.empty()) require(input_.upper_start.size(), totals_.train, "the start");
    if (!input_.label_changed.empty()) require(input_.label_changed.size(), totals_.train, "label_changed");
    if (input_.test != nullptr) {
      detail::check_labelled_rows(*input_.test, classes(), totals_.features, "test");
      if (input_.test->size() == 0) throw std::invalid_argument("test: no rows");
    }
  }

  void check_result() const {
    require(input_.upper.size(), totals_.train, "the upper variable");
    if (!input_.lower_consensus.empty()) {
      require(input_.lower_consensus.size(), model_size(), "the lower consensus");
    }
  }

  void check_baselines(const CleaningBaselines& baselines) const {
    require(baselines.plain.size(), model_size(), "plain training's model");
    require(baselines.validation_only.size(), model_size(), "the validation rows' model");
    require(baselines.true_mask.size(), input_.label_changed.empty() ? 0 : model_size(),
            "the true mask's model");
  }

  void measure_baselines(const CleaningBaselines& baselines) {
    measures_.all_converged = baselines.all_converged;
    measures_.worst_gradient_norm = baselines.worst_gradient_norm;
    measures_.value_function_start = validation_loss(baselines.plain);
    measures_.test_accuracy_start = test_accuracy(baselines.plain);
    measures_.test_accuracy_validation_only = test_accuracy(baselines.validation_only);
    if (baselines.true_mask.empty()) return;
    measures_.value_function_true_mask = validation_loss(baselines.true_mask);
    measures_.test_accuracy_true_mask = test_accuracy(baselines.true_mask);
  }

  /// sigmoid(psi), [n]; psi = 0 when empty.
  [[nodiscard]] std::vector<double> weights_of(std::span<const double> upper) const {
    std::vector<double> weights(totals_.train, detail::sigmoid(0));
    std::transform(upper.begin(), upper.end(), weights.begin(), detail::sigmoid);
    return weights;
  }

  /// The softmax regression whose class probabilities are, up to their sum, the geometric mean of both
  /// models'. Errs less than either: the one fits wrong labels, the other the chance of the validation rows.
  static std::vector<double> mean_model(std::span<const double> first, std::span<const double> second) {
    std::vector<double> mean(first.size());
    for (std::size_t k = 0; k < mean.size(); ++k) mean[k] = 0.5 * (first[k] + second[k]);
    return mean;
  }

  /// 1 for the rows that are not suspect under `model`, 0 for the others, [n].
  [[nodiscard]] std::vector<double> unsuspected(std::span<const double> model) {
    const RowVerdicts verdicts = judge_probabilities(probabilities(model), labels_, classes());
    std::vector<double> weights(totals_.train);
    std::transform(verdicts.is_suspect.begin(), verdicts.is_suspect.end(), weights.begin(),
                   [](std::uint8_t is_suspect) { return is_suspect != 0 ? 0.0 : 1.0; });
    return weights;
  }

  static double effective_rows(std::span<const double> weights) {
    double sum = 0, squares = 0;
    for (const double weight : weights) {
      sum += weight;
      squares += weight * weight;
    }
    return squares > 0 ? sum * sum / squares : 0;
  }

  /// The weights at psi = +40 for rows with their own label and -40 for the others: 1 and 0 to double
  /// precision.
  [[nodiscard]] std::vector<double> true_mask() const {
    constexpr double kCertain = 40;
    std::vector<double> weights(totals_.train);
    std::transform(input_.label_changed.begin(), input_.label_changed.end(), weights.begin(),
                   [](std::uint8_t changed) { return detail::sigmoid(changed != 0 ? -kCertain : kCertain); });
    return weights;
  }

  /// A row's factor in the mean over the workers, (1/N) s_i / n_i.
  [[nodiscard]] double pooled_scale(std::size_t shard_rows, std::size_t total_rows) const {
    return detail::row_scale(input_.settings.shard_weights, shard_rows, total_rows, shards_.size()) /
           static_cast<double>(shards_.size());
  }

  /// The training losses with their part of `weights` [n]; `scale(shard rows)` is a row's factor.
  template <class Scale>
  void add_training(std::vector<detail::WeightedLoss>& parts, std::span<const double> weights,
                    const Scale& scale) {
    std::size_t begin = 0;
    for (kernels::SoftmaxLoss& loss : train_) {
      parts.push_back(
          {.loss = &loss, .weights = weights.subspan(begin, loss.rows()), .scale = scale(loss.rows())});
      begin += loss.rows();
    }
  }

  template <class Scale>
  void add_validation(std::vector<detail::WeightedLoss>& parts, const Scale& scale) {
    for (kernels::SoftmaxLoss& loss : validation_) {
      parts.push_back({.loss = &loss, .weights = {}, .scale = scale(loss.rows())});
    }
  }

  std::vector<double> fit(std::span<const detail::WeightedLoss> parts, std::span<const double> start) {
    const double ridge = input_.settings.ridge;
    ModelFit fit = detail::fit_weighted_losses(*executor_, parts, ridge,
                                               ridge > 0 ? start : std::span<const double>(), options_);
    measures_.all_converged = measures_.all_converged && fit.converged;
    // Written so that a norm that is not a number is not passed over.
    if (!(fit.gradient_norm <= measures_.worst_gradient_norm))
      measures_.worst_gradient_norm = fit.gradient_norm;
    return std::move(fit.model);
  }

  /// y* of the lower level at the given weights.
  std::vector<double> fit_training(std::span<const double> weights, std::span<const double> start) {
    std::vector<detail::WeightedLoss> parts;
    add_training(parts, weights, [&](std::size_t rows) { return pooled_scale(rows, totals_.train); });
    return fit(parts, start);
  }

  std::vector<double> fit_validation(std::span<const double> start) {
    std::vector<detail::WeightedLoss> parts;
    add_validation(parts, [&](std::size_t rows) { return pooled_scale(rows, totals_.validation); });
    return fit(parts, start);
  }

  /// Weighted training rows and validation rows together, every row counted once.
  std::vector<double> fit_delivered(std::span<const double> weights, std::span<const double> start) {
    const double scale = 1.0 / static_cast<double>(totals_.train + totals_.validation);
    std::vector<detail::WeightedLoss> parts;
    add_training(parts, weights, [&](std::size_t) { return scale; });
    add_validation(parts, [&](std::size_t) { return scale; });
    return fit(parts, start);
  }

  /// (1/N) sum_i G_i(y).
  double validation_loss(std::span<const double> model) {
    std::vector<double> part(validation_.size());
    detail::parallel_for(*executor_, part.size(), [&](std::size_t i) {
      part[i] = validation_[i].value(model, {}, pooled_scale(validation_[i].rows(), totals_.validation));
    });
    return std::accumulate(part.begin(), part.end(), 0.0);
  }

  double test_accuracy(std::span<const double> model) {
    if (!test_) return std::numeric_limits<double>::quiet_NaN();
    std::vector<std::int32_t> predicted(test_->rows());
    test_->predict(model, predicted);
    return detail::accuracy_of(predicted, test_->labels());
  }

  /// Of every training row and class, [n x classes].
  std::vector<double> probabilities(std::span<const double> model) {
    std::vector<std::size_t> begin(train_.size() + 1, 0);
    for (std::size_t i = 0; i < train_.size(); ++i) begin[i + 1] = begin[i] + train_[i].rows();
    const std::size_t width = static_cast<std::size_t>(classes());
    std::vector<double> result(totals_.train * width);
    detail::parallel_for(*executor_, train_.size(), [&](std::size_t i) {
      train_[i].probabilities(model, std::span(result).subspan(begin[i] * width, train_[i].rows() * width));
    });
    return result;
  }

  void measure_consensus() {
    if (!test_) return;
    measures_.test_accuracy_at_consensus = test_accuracy(input_.lower_consensus);
    measures_.test_loss_at_consensus =
        test_->value(input_.lower_consensus, {}, 1.0 / static_cast<double>(test_->rows()));
  }

  void measure_detection() {
    const std::span<const std::uint8_t> changed = input_.label_changed;
    measures_.detection_auc = auc_of_low(measures_.verdicts.given_probability, changed);
    // psi ranks the rows as sigmoid(psi) does, without the ties where the sigmoid saturates.
    measures_.detection_auc_weight = auc_of_low(input_.upper, changed);
    const DetectionScores scores = detection_scores(measures_.verdicts.is_suspect, changed);
    measures_.detection_precision = scores.precision;
    measures_.detection_recall = scores.recall;
    measures_.detection_f1 = scores.f1;
  }

  /// The area under the curve of a score whose low values are suspect.
  static double auc_of_low(std::span<const double> score, std::span<const std::uint8_t> changed) {
    std::vector<double> suspicion(score.size());
    std::transform(score.begin(), score.end(), suspicion.begin(), [](double s) { return -s; });
    return area_under_curve(suspicion, changed);
  }

  const CleaningMeasuresInput& input_;
  const std::vector<CleaningShard>& shards_;
  const ResolveOptions& options_;
  detail::RowTotals totals_;
  std::unique_ptr<detail::Executor> executor_;
  std::vector<kernels::SoftmaxLoss> train_, validation_;  // one per shard
  std::optional<kernels::SoftmaxLoss> test_;
  std::vector<std::int32_t> labels_;  // of the training rows, [n]
  CleaningMeasures measures_;
};

}  // namespace

RowVerdicts judge_probabilities(std::span<const double> probability, std::span<const std::int32_t> labels,
                                int classes) {
  const std::size_t width = static_cast<std::size_t>(classes);
  if (probability.size() != labels.size() * width) {
    throw std::invalid_argument("judge_probabilities: " + std::to_string(probability.size()) +
                                " probabilities for " + std::to_string(labels.size()) + " rows of " +
                                std::to_string(classes) + " classes");
  }
  RowVerdicts verdicts;
  verdicts.given_probability.resize(labels.size());
  verdicts.predicted_label.resize(labels.size());
  verdicts.is_suspect.resize(labels.size());
  for (std::size_t j = 0; j < labels.size(); ++j) {
    const std::span<const double> row = probability.subspan(j * width, width);
    const std::size_t given = static_cast<std::size_t>(labels[j]);
    verdicts.given_probability[j] = row[given];
    verdicts.predicted_label[j] =
        static_cast<std::int32_t>(std::max_element(row.begin(), row.end()) - row.begin());
    verdicts.is_suspect[j] = is_contradicted(row, given);
  }
  return verdicts;
}

RowVerdicts judge_rows(std::span<const double> model, const LabelledRows& rows, int classes,
                       std::int64_t threads) {
  const std::size_t width = static_cast<std::size_t>(classes);
  detail::check_labelled_rows(rows, classes, model.size() / width, "rows to judge");
  std::vector<double> probability(rows.size() * width);
  detail::for_each_row_chunk(
      rows, classes, threads, [&](kernels::SoftmaxLoss& loss, std::size_t begin, std::size_t count) {
        loss.probabilities(model, std::span(probability).subspan(begin * width, count * width));
      });
  return judge_probabilities(probability, rows.labels, classes);
}

CleaningBaselines fit_cleaning_baselines(const CleaningMeasuresInput& input, const ResolveOptions& options) {
  if (input.shards == nullptr) throw std::invalid_argument("fit_cleaning_baselines: no shards");
  return CleaningMeasurement(input, options).fit_baselines();
}

CleaningMeasures measure_cleaning(const CleaningMeasuresInput& input, const ResolveOptions& options) {
  if (input.shards == nullptr) throw std::invalid_argument("measure_cleaning: no shards");
  const auto begin = Clock::now();
  CleaningMeasures measures = CleaningMeasurement(input, options).run();
  measures.seconds = seconds_since(begin);
  return measures;
}

}  // namespace adbo
