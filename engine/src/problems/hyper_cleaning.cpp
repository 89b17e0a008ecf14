#include "adbo/problems/hyper_cleaning.h"

#include <algorithm>
#include <utility>

#include "adbo/kernels/softmax.h"
#include "problems/labelled_rows.h"
#include "problems/sigmoid.h"
#include "problems/softmax_curvature.h"

namespace adbo {
namespace {

/// One worker of 917_27. x is the worker's slice of psi, y the softmax regression.
class CleaningWorker final : public WorkerObjective {
 public:
  struct Scales {
    double train = 0, validation = 0;  // of one row's loss
    double ridge = 0;                  // C_r
  };

  CleaningWorker(const CleaningShard& shard, int classes, std::size_t support_begin, const Scales& scales)
      : train_(shard.train.features, shard.train.labels, classes),
        validation_(shard.validation.features, shard.validation.labels, classes),
        support_{support_begin, shard.train.size()},
        scales_(scales),
        weight_(shard.train.size()),
        curvature_(shard.train.features, classes) {}

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
    set_weights(x);
    const double loss = train_.gradient(y, weight_, scales_.train, grad_y);
    return loss + add_ridge_gradient(y, grad_y);
  }

  void lower_hessian_product(std::span<const double> x, std::span<const double> y, std::span<const double> u,
                             std::span<double> out_y) override {
    set_weights(x);
    train_.hessian_product(y, weight_, scales_.train, u, out_y);
    add_ridge_hessian_product(u, out_y);
  }

  void lower_cross_product(std::span<const double> x, std::span<const double> y, std::span<const double> u,
                           std::span<double> out_x) override {
    train_.row_directional_derivatives(y, u, out_x);
    scale_to_cross_product(x, scales_.train, out_x);
  }

  void lower_slope(std::span<const double> x, std::span<const double> y, std::span<double> out_x) override {
    train_.row_losses(y, out_x);
    scale_to_cross_product(x, scales_.train, out_x);
  }

  double lower_fused(std::span<const double> x, std::span<const double> y, std::span<const double> u,
                     std::span<double> grad_y, std::span<double> hessian_y,
                     std::span<double> cross_x) override {
    if (grad_y.empty() || hessian_y.empty() || cross_x.empty()) {
      return WorkerObjective::lower_fused(x, y, u, grad_y, hessian_y, cross_x);  // one call per output
    }
    set_weights(x);
    const double loss = train_.fused(y, weight_, scales_.train, u, grad_y, hessian_y, cross_x);
    add_ridge_hessian_product(u, hessian_y);
    scale_to_cross_product(x, scales_.train, cross_x);
    return loss + add_ridge_gradient(y, grad_y);
  }

  double lower_batch(const Batch& batch, std::span<const double> x, std::span<const double> y,
                     std::span<const double> u, std::span<double> grad_y, std::span<double> hessian_y,
                     std::span<double> cross_x) override {
    const kernels::RowRange rows = detail::rows_of(batch, train_.rows());
    const double scale = scales_.train * static_cast<double>(batch.count);
    set_weights(x, rows);
    std::fill(cross_x.begin(), cross_x.end(), 0.0);
    const std::span<double> batch_cross =
        cross_x.empty() ? cross_x : cross_x.subspan(rows.begin, rows.size());
    double loss = 0;
    if (!hessian_y.empty() || !cross_x.empty()) {
      loss = train_.fused(rows, y, weight_, scale, u, grad_y, hessian_y, batch_cross);
    } else if (!grad_y.empty()) {
      loss = train_.gradient(rows, y, weight_, scale, grad_y);
    }
    if (!hessian_y.empty()) add_ridge_hessian_product(u, hessian_y);
    if (!cross_x.empty()) scale_to_cross_product(x.subspan(rows.begin, rows.size()), scale, batch_cross);
    return grad_y.empty() ? 0 : loss + add_ridge_gradient(y, grad_y);
  }

  [[nodiscard]] SampleCounts sample_counts() const override { return {validation_.rows(), train_.rows()}; }
  [[nodiscard]] std::size_t lower_curvature_size() const override { return curvature_.size(); }
  void lower_curvature(std::span<const double> x, std::span<const double> y,
                       std::span<double> block) override {
    set_weights(x);
    curvature_.compute(train_, y, weight_, scales_.train, block);
    for (std::size_t k = 0; k < curvature_.size(); ++k)
      block[k * (curvature_.size() + 1)] += 2 * scales_.ridge;
  }
  [[nodiscard]] std::size_t lower_curvature_diagonal_size() const override {
    return curvature_.diagonal_size();
  }
  void lower_curvature_diagonal(std::span<const double> x, std::span<const double> y,
                                std::span<double> diagonal) override {
    set_weights(x);
    curvature_.compute_diagonal(train_, y, weight_, scales_.train, diagonal);
    for (double& entry : diagonal) entry += 2 * scales_.ridge;
  }

  [[nodiscard]] UpperSupport upper_support(std::size_t /*upper_dim*/) const override { return support_; }
  [[nodiscard]] std::size_t upper_sample_count() const override { return validation_.rows(); }
  [[nodiscard]] bool upper_depends_on_x() const override { return false; }

 private:
  void set_weights(std::span<const double> x) { set_weights(x, {0, x.size()}); }
  void set_weights(std::span<const double> x, const kernels::RowRange& rows) {
    for (std::size_t j = rows.begin; j < rows.end; ++j) weight_[j] = detail::sigmoid(x[j]);
  }

  /// Adds the gradient of C_r ||y||^2 and returns its value.
  double add_ridge_gradient(std::span<const double> y, std::span<double> grad_y) const {
    add_ridge_hessian_product(y, grad_y);  // its Hessian is constant: the gradient is Hessian times y
    double squares = 0;
    for (const double value : y) squares += value * value;
    return scales_.ridge * squares;
  }

  void add_ridge_hessian_product(std::span<const double> u, std::span<double> out_y) const {
    for (std::size_t k = 0; k < u.size(); ++k) out_y[k] += 2 * scales_.ridge * u[k];
  }

  /// From <grad CE_j, u> to sigma'(psi_j) scale <grad CE_j, u>, and likewise from CE_j.
  static void scale_to_cross_product(std::span<const double> x, double scale,
                                     std::span<double> row_derivatives) {
    for (std::size_t j = 0; j < x.size(); ++j) row_derivatives[j] *= scale * detail::sigmoid_derivative(x[j]);
  }

  kernels::SoftmaxLoss train_, validation_;
  UpperSupport support_;
  Scales scales_;
  std::vector<double> weight_;  // sigmoid(psi_j) of the last call's rows, [training rows]
  detail::SoftmaxCurvature curvature_;
};

}  // namespace

Problem make_hyper_cleaning(const std::vector<CleaningShard>& shards, const CleaningSettings& settings) {
  const detail::RowTotals totals =
      detail::check_shards(std::span<const CleaningShard>(shards), settings.classes);
  Problem problem(totals.train, static_cast<std::size_t>(settings.classes) * totals.features);
  std::size_t support_begin = 0;
  for (const CleaningShard& shard : shards) {
    const CleaningWorker::Scales scales{
        .train = detail::row_scale(settings.shard_weights, shard.train.size(), totals.train, shards.size()),
        .validation = detail::row_scale(settings.shard_weights, shard.validation.size(), totals.validation,
                                        shards.size()),
        .ridge = settings.ridge};
    problem.add_worker(std::make_unique<CleaningWorker>(shard, settings.classes, support_begin, scales));
    support_begin += shard.train.size();
  }
  return problem;
}

}  // namespace adbo
