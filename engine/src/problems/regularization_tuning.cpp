#include "adbo/problems/regularization_tuning.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "adbo/kernels/logistic.h"
#include "adbo/kernels/softmax.h"
#include "problems/labelled_rows.h"
#include "problems/logistic_curvature.h"
#include "problems/sigmoid.h"
#include "problems/softmax_curvature.h"

namespace adbo {
namespace {

/// r(psi) and r'(psi).
struct Coefficient {
  double value = 0, slope = 0;
};

Coefficient coefficient(Parametrization parametrization, double psi) {
  switch (parametrization) {
    case Parametrization::kLinear:
      return {psi, 1.0};
    case Parametrization::kExp: {
      const double e = std::exp(psi);
      return {e, e};
    }
    case Parametrization::kSoftplus:
      return {detail::softplus(psi), detail::sigmoid(psi)};
  }
  throw std::invalid_argument("unknown parametrization");
}

/// penalty_factor * sum_j r(psi_j) w_j^2 and its products. With n coefficients and m = blocks * n variables,
/// coefficient j belongs to w_j, w_{n+j}, w_{2n+j}, ...: one block per class that shares the coefficients.
class Penalty {
 public:
  Penalty(Parametrization parametrization, double factor, std::size_t coefficients)
      : parametrization_(parametrization), factor_(factor), coefficient_(coefficients) {}

  /// Fixes psi [n] for the calls that follow.
  void set(std::span<const double> psi) {
    for (std::size_t j = 0; j < psi.size(); ++j) coefficient_[j] = coefficient(parametrization_, psi[j]);
  }

  /// Adds the gradient and returns the value.
  double add_gradient(std::span<const double> w, std::span<double> gradient) const {
    add_hessian_product(w, gradient);  // quadratic in w: the gradient is Hessian times w
    double sum = 0;
    for_each(w.size(), [&](std::size_t j, std::size_t k) { sum += coefficient_[j].value * w[k] * w[k]; });
    return factor_ * sum;
  }

  void add_hessian_product(std::span<const double> u, std::span<double> out) const {
    for_each(u.size(),
             [&](std::size_t j, std::size_t k) { out[k] += 2 * factor_ * coefficient_[j].value * u[k]; });
  }

  /// out [m] = the curvature of each variable.
  void diagonal(std::span<double> out) const {
    for_each(out.size(), [&](std::size_t j, std::size_t k) { out[k] = 2 * factor_ * coefficient_[j].value; });
  }

  /// The curvature of variable k of one block of b variables; with a coefficient per variable the largest
  /// over the blocks.
  [[nodiscard]] double curvature(std::size_t k, std::size_t b) const {
    double largest = 0;
    for (std::size_t j = k; j < coefficient_.size(); j += b)
      largest = std::max(largest, coefficient_[j].value);
    return 2 * factor_ * largest;
  }

  /// out [n] = penalty_factor r'(psi_j) times the sum over the blocks of w^2.
  void slope(std::span<const double> w, std::span<double> out) const {
    std::fill(out.begin(), out.end(), 0.0);
    for_each(w.size(),
             [&](std::size_t j, std::size_t k) { out[j] += factor_ * coefficient_[j].slope * w[k] * w[k]; });
  }

  /// out [n] = 2 penalty_factor r'(psi_j) times the sum over the blocks of w u.
  void cross_product(std::span<const double> w, std::span<const double> u, std::span<double> out) const {
    std::fill(out.begin(), out.end(), 0.0);
    for_each(w.size(), [&](std::size_t j, std::size_t k) {
      out[j] += 2 * factor_ * coefficient_[j].slope * w[k] * u[k];
    });
  }

 private:
  /// body(j, k) for every variable k and its coefficient j.
  template <class Body>
  void for_each(std::size_t variables, const Body& body) const {
    for (std::size_t block = 0; block < variables; block += coefficient_.size()) {
      for (std::size_t j = 0; j < coefficient_.size(); ++j) body(j, block + j);
    }
  }

  Parametrization parametrization_;
  double factor_;
  std::vector<Coefficient> coefficient_;  // of the last psi, [n]
};

/// The penalty as what all workers' lower objectives have in common.
class PenaltyTerm final : public CommonTerm {
 public:
  explicit PenaltyTerm(Penalty penalty) : penalty_(std::move(penalty)) {}
  void gradient(std::span<const double> x, std::span<const double> y, std::span<double> out_y) override {
    penalty_.set(x);
    std::fill(out_y.begin(), out_y.end(), 0.0);
    penalty_.add_hessian_product(y, out_y);  // quadratic in w
  }
  void curvature(std::span<const double> x, std::span<const double> /*y*/, std::span<double> out_y) override {
    penalty_.set(x);
    penalty_.diagonal(out_y);
  }
  void cross_product(std::span<const double> x, std::span<const double> y, std::span<const double> u,
                     std::span<double> out_x) override {
    penalty_.set(x);
    penalty_.cross_product(y, u, out_x);
  }
  [[nodiscard]] std::unique_ptr<CommonTerm> clone() const override {
    return std::make_unique<PenaltyTerm>(*this);
  }

 private:
  Penalty penalty_;
};

template <class Loss>
using CurvatureOf = std::conditional_t<std::is_same_v<Loss, kernels::LogisticLoss>, detail::LogisticCurvature,
                                       detail::SoftmaxCurvature>;

/// One worker of 917_28 with Loss = LogisticLoss or SoftmaxLoss. x is psi, y the model w.
template <class Loss>
class TuningWorker final : public WorkerObjective {
 public:
  struct Scales {
    double train = 0, validation = 0;  // of one row's loss
  };

  TuningWorker(Loss train, Loss validation, const Scales& scales, Penalty penalty,
               CurvatureOf<Loss> curvature)
      : train_(std::move(train)),
        validation_(std::move(validation)),
        scales_(scales),
        penalty_(std::move(penalty)),
        curvature_(std::move(curvature)),
        row_derivative_(train_.rows()) {}

  double upper(std::span<const double> /*x*/, std::span<const double> y, std::span<double> grad_x,
               std::span<double> grad_y) override {
    std::fill(grad_x.begin(), grad_x.end(), 0.0);
    return validation_.gradient(y, {}, scales_.validation, grad_y);
  }

  double upper_batch(const Batch& batch, std::span<const double> /*x*/, std::span<const double> y,
                     std::span<double> grad_x, std::span<double> grad_y) override {
    std::fill(grad_x.begin(), grad_x.end(), 0.0);
    return validation_.gradient(detail::rows_of(batch, validation_.rows()), y, {},
                                scales_.validation * static_cast<double>(batch.count), grad_y);
  }

  double lower(std::span<const double> x, std::span<const double> y, std::span<double> grad_y) override {
    penalty_.set(x);
    const double loss = train_.gradient(y, {}, scales_.train, grad_y);
    return loss + penalty_.add_gradient(y, grad_y);
  }

  void lower_hessian_product(std::span<const double> x, std::span<const double> y, std::span<const double> u,
                             std::span<double> out_y) override {
    penalty_.set(x);
    train_.hessian_product(y, {}, scales_.train, u, out_y);
    penalty_.add_hessian_product(u, out_y);
  }

  void lower_cross_product(std::span<const double> x, std::span<const double> y, std::span<const double> u,
                           std::span<double> out_x) override {
    penalty_.set(x);
    penalty_.cross_product(y, u, out_x);
  }

  void lower_slope(std::span<const double> x, std::span<const double> y, std::span<double> out_x) override {
    penalty_.set(x);
    penalty_.slope(y, out_x);
  }

  double lower_fused(std::span<const double> x, std::span<const double> y, std::span<const double> u,
                     std::span<double> grad_y, std::span<double> hessian_y,
                     std::span<double> cross_x) override {
    if (grad_y.empty() || hessian_y.empty() || cross_x.empty()) {
      return WorkerObjective::lower_fused(x, y, u, grad_y, hessian_y, cross_x);  // one call per output
    }
    penalty_.set(x);
    const double loss = train_.fused(y, {}, scales_.train, u, grad_y, hessian_y, row_derivative_);
    penalty_.add_hessian_product(u, hessian_y);
    penalty_.cross_product(y, u, cross_x);
    return loss + penalty_.add_gradient(y, grad_y);
  }

  double lower_batch(const Batch& batch, std::span<const double> x, std::span<const double> y,
                     std::span<const double> u, std::span<double> grad_y, std::span<double> hessian_y,
                     std::span<double> cross_x) override {
    const kernels::RowRange rows = detail::rows_of(batch, train_.rows());
    const double scale = scales_.train * static_cast<double>(batch.count);
    penalty_.set(x);
    double loss = 0;
    if (!hessian_y.empty()) {
      loss = train_.fused(rows, y, {}, scale, u, grad_y, hessian_y, {});
      penalty_.add_hessian_product(u, hessian_y);
    } else if (!grad_y.empty()) {
      loss = train_.gradient(rows, y, {}, scale, grad_y);
    }
    if (!cross_x.empty()) penalty_.cross_product(y, u, cross_x);
    return grad_y.empty() ? 0 : loss + penalty_.add_gradient(y, grad_y);
  }

  [[nodiscard]] SampleCounts sample_counts() const override { return {validation_.rows(), train_.rows()}; }
  [[nodiscard]] std::size_t lower_curvature_size() const override { return curvature_.size(); }
  void lower_curvature(std::span<const double> x, std::span<const double> y,
                       std::span<double> block) override {
    penalty_.set(x);
    curvature_.compute(train_, y, {}, scales_.train, block);
    const std::size_t b = curvature_.size();
    for (std::size_t k = 0; k < b; ++k) block[k * (b + 1)] += penalty_.curvature(k, b);
  }
  [[nodiscard]] std::size_t lower_curvature_diagonal_size() const override {
    return curvature_.diagonal_size();
  }
  void lower_curvature_diagonal(std::span<const double> x, std::span<const double> y,
                                std::span<double> diagonal) override {
    penalty_.set(x);
    curvature_.compute_diagonal(train_, y, {}, scales_.train, diagonal);
    for (std::size_t k = 0; k < diagonal.size(); ++k) diagonal[k] += penalty_.curvature(k, diagonal.size());
  }
  [[nodiscard]] bool upper_depends_on_x() const override { return false; }

 private:
  Loss train_, validation_;
  Scales scales_;
  Penalty penalty_;
  CurvatureOf<Loss> curvature_;
  std::vector<double>
      row_derivative_;  // what the fused kernel also gives and nobody here wants, [training rows]
};

std::vector<std::int32_t> signed_labels(const std::vector<std::int32_t>& labels) {
  std::vector<std::int32_t> result(labels.size());
  std::transform(labels.begin(), labels.end(), result.begin(),
                 [](std::int32_t label) { return label == 1 ? 1 : -1; });
  return result;
}

template <class Loss>
Loss make_loss(const LabelledRows& rows, int classes);

template <>
kernels::LogisticLoss make_loss(const LabelledRows& rows, int /*classes*/) {
  return {rows.features, signed_labels(rows.labels)};
}

template <>
kernels::SoftmaxLoss make_loss(const LabelledRows& rows, int classes) {
  return {rows.features, rows.labels, classes};
}

template <class Loss>
void add_workers(Problem& problem, const std::vector<TuningShard>& shards, const TuningSettings& settings,
                 const detail::RowTotals& totals) {
  const Penalty penalty(settings.parametrization, settings.penalty_factor, problem.upper_dim());
  problem.set_common_term(std::make_unique<PenaltyTerm>(penalty));
  for (const TuningShard& shard : shards) {
    const typename TuningWorker<Loss>::Scales scales{
        .train = detail::row_scale(settings.shard_weights, shard.train.size(), totals.train, shards.size()),
        .validation = detail::row_scale(settings.shard_weights, shard.validation.size(), totals.validation,
                                        shards.size())};
    problem.add_worker(std::make_unique<TuningWorker<Loss>>(
        make_loss<Loss>(shard.train, settings.classes), make_loss<Loss>(shard.validation, settings.classes),
        scales, penalty, CurvatureOf<Loss>(shard.train.features, settings.classes)));
  }
}

void check_settings(const TuningSettings& settings) {
  if (settings.model != TuningModel::kLogistic) return;
  if (settings.classes != 2) {
    throw std::invalid_argument("logistic regression has 2 classes, not " + std::to_string(settings.classes));
  }
  if (settings.per_class) {
    throw std::invalid_argument("a coefficient per feature and class needs the softmax model");
  }
}

ModelScore score_logistic_model(std::span<const double> model, const LabelledRows& rows) {
  detail::check_labelled_rows(rows, 2, model.size(), "rows to score");
  const std::vector<std::int32_t> labels = signed_labels(rows.labels);
  kernels::LogisticLoss loss(rows.features, labels);
  std::vector<std::int32_t> predicted(rows.size());
  loss.predict(model, predicted);
  std::size_t correct = 0;
  for (std::size_t j = 0; j < rows.size(); ++j) correct += predicted[j] == labels[j];
  const double count = static_cast<double>(rows.size());
  return {.accuracy = static_cast<double>(correct) / count, .loss = loss.value(model, {}, 1 / count)};
}

}  // namespace

std::string_view to_string(Parametrization parametrization) {
  switch (parametrization) {
    case Parametrization::kLinear:
      return "linear";
    case Parametrization::kExp:
      return "exp";
    case Parametrization::kSoftplus:
      return "softplus";
  }
  return "unknown";
}

Problem make_regularization_tuning(const std::vector<TuningShard>& shards, const TuningSettings& settings) {
  check_settings(settings);
  const detail::RowTotals totals =
      detail::check_shards(std::span<const TuningShard>(shards), settings.classes);
  const std::size_t classes = static_cast<std::size_t>(settings.classes);
  const std::size_t lower_dim =
      settings.model == TuningModel::kSoftmax ? classes * totals.features : totals.features;
  Problem problem(settings.per_class ? lower_dim : totals.features, lower_dim);
  if (settings.model == TuningModel::kSoftmax) {
    add_workers<kernels::SoftmaxLoss>(problem, shards, settings, totals);
  } else {
    add_workers<kernels::LogisticLoss>(problem, shards, settings, totals);
  }
  return problem;
}

ModelScore score_tuning_model(std::span<const double> model, const LabelledRows& rows,
                              const TuningSettings& settings, std::int64_t threads) {
  check_settings(settings);
  return settings.model == TuningModel::kSoftmax ? score_model(model, rows, settings.classes, threads)
                                                 : score_logistic_model(model, rows);
}

}  // namespace adbo
