#include "instances.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <utility>

#include "adbo/kernels/rows.h"
#include "adbo/problems/hyper_cleaning.h"
#include "adbo/problems/regularization_tuning.h"

namespace adbo::conformance {
namespace {

using reference::Index;
using reference::Matrix;
using reference::QuadraticData;
using reference::Sample;
using reference::Vector;

using MapConst = Eigen::Map<const Vector>;
using Map = Eigen::Map<Vector>;

MapConst view(std::span<const double> values) { return {values.data(), static_cast<Index>(values.size())}; }
Map view(std::span<double> values) { return {values.data(), static_cast<Index>(values.size())}; }

/// The product's side of a quadratic worker: products with a vector, no Jacobians.
class QuadraticWorker final : public WorkerObjective {
 public:
  explicit QuadraticWorker(QuadraticData data) : data_(std::move(data)) {}

  double upper(std::span<const double> x, std::span<const double> y, std::span<double> grad_x,
               std::span<double> grad_y) override {
    view(grad_y) = view(y) - data_.target;
    double value = 0.5 * view(grad_y).squaredNorm();
    if (upper_depends_on_x()) {
      view(grad_x) = data_.rho * (view(x) - data_.anchor);
      value += 0.5 * data_.rho * (view(x) - data_.anchor).squaredNorm();
    }
    return value;
  }
  double lower(std::span<const double> x, std::span<const double> y, std::span<double> grad_y) override {
    const Vector curved = data_.hessian * view(y);
    const Vector linear = data_.mixing * view(x) + data_.shift;
    view(grad_y) = curved - linear;
    return view(y).dot(0.5 * curved - linear);
  }
  void lower_hessian_product(std::span<const double>, std::span<const double>, std::span<const double> u,
                             std::span<double> out_y) override {
    view(out_y) = data_.hessian * view(u);
  }
  void lower_cross_product(std::span<const double>, std::span<const double>, std::span<const double> u,
                           std::span<double> out_x) override {
    view(out_x) = -data_.mixing.transpose() * view(u);
  }
  [[nodiscard]] UpperSupport upper_support(std::size_t) const override {
    return {static_cast<std::size_t>(data_.begin), static_cast<std::size_t>(data_.mixing.cols())};
  }
  [[nodiscard]] bool upper_depends_on_x() const override { return data_.rho != 0; }

 private:
  QuadraticData data_;
};

std::vector<double> to_std(const Vector& values) { return {values.begin(), values.end()}; }

/// The same random start on both sides.
void set_start(Instance& instance, Normals& normals, double scale) {
  reference::Problem& plain = instance.plain;
  plain.upper_start = normals.vector(static_cast<std::size_t>(plain.upper_dim), scale);
  plain.lower_start = normals.vector(static_cast<std::size_t>(plain.lower_dim), scale);
  plain.dual_start = normals.vector(static_cast<std::size_t>(plain.upper_dim), 0.1 * scale);
  StartPoint start;
  for (std::size_t i = 0; i < plain.num_workers(); ++i) {
    plain.local_starts.push_back(normals.vector(static_cast<std::size_t>(plain.lower_dim), scale));
    start.lower_local.push_back(to_std(plain.local_starts.back()));
  }
  start.upper = to_std(plain.upper_start);
  start.lower = to_std(plain.lower_start);
  start.consensus_dual = to_std(plain.dual_start);
  instance.product.set_start(std::move(start));
}

/// Rows whose features are float32 numbers, so that both sides hold the same ones.
Sample random_sample(Normals& normals, std::size_t rows, std::size_t features, int classes) {
  Sample sample{normals.matrix(rows, features), {}};
  sample.features = sample.features.cast<float>().cast<double>();
  for (std::size_t r = 0; r < rows; ++r)
    sample.labels.push_back(static_cast<std::int32_t>(normals.word() % static_cast<std::uint64_t>(classes)));
  return sample;
}

LabelledRows to_product(const Sample& sample) {
  kernels::DenseRows dense(static_cast<std::size_t>(sample.features.rows()),
                           static_cast<std::size_t>(sample.features.cols()));
  for (std::size_t r = 0; r < dense.rows(); ++r)
    for (std::size_t c = 0; c < dense.cols(); ++c)
      dense.mutable_row(r)[c] =
          static_cast<float>(sample.features(static_cast<Index>(r), static_cast<Index>(c)));
  return {std::make_shared<const kernels::Rows>(std::move(dense)), sample.labels};
}

struct Shard {
  Sample train, validation;
};

std::vector<Shard> random_shards(Normals& normals, const TableShape& shape, int classes) {
  std::vector<Shard> shards;
  for (std::size_t i = 0; i < shape.num_workers; ++i) {
    Sample train = random_sample(normals, shape.train_rows + i, shape.features, classes);
    Sample validation = random_sample(normals, shape.validation_rows, shape.features, classes);
    shards.push_back({std::move(train), std::move(validation)});
  }
  return shards;
}

}  // namespace

double Normals::next() {
  // Box-Muller, one number of the pair; 53 bits, the logarithm's argument in (0, 1].
  const double radius = std::sqrt(-2 * std::log(std::ldexp(static_cast<double>((engine_() >> 11) + 1), -53)));
  const double angle = 2 * std::numbers::pi * std::ldexp(static_cast<double>(engine_() >> 11), -53);
  return radius * std::cos(angle);
}

Vector Normals::vector(std::size_t size, double scale) {
  Vector values(static_cast<Index>(size));
  for (double& value : values) value = scale * next();
  return values;
}

Matrix Normals::matrix(std::size_t rows, std::size_t cols, double scale) {
  Matrix values(static_cast<Index>(rows), static_cast<Index>(cols));
  for (Index r = 0; r < values.rows(); ++r)
    for (Index c = 0; c < values.cols(); ++c) values(r, c) = scale * next();
  return values;
}

std::vector<QuadraticData> quadratic_data(const QuadraticShape& shape) {
  Normals normals(shape.seed);
  const std::size_t support = shape.support_size == 0 ? shape.upper_dim : shape.support_size;
  const std::size_t m = shape.lower_dim;
  std::vector<QuadraticData> data(shape.num_workers);
  for (std::size_t i = 0; i < shape.num_workers; ++i) {
    QuadraticData& d = data[i];
    const Matrix root = normals.matrix(m, m, 1 / std::sqrt(static_cast<double>(m)));
    d.hessian = root * root.transpose() + 0.5 * Matrix::Identity(root.rows(), root.cols());
    d.mixing = normals.matrix(m, support, 0.7);
    d.shift = normals.vector(m);
    d.target = normals.vector(m);
    d.anchor = normals.vector(support);
    const bool uses_x = shape.upper_uses_x && i + shape.workers_without_x < shape.num_workers;
    d.rho = uses_x ? 0.5 : 0;
    if (shape.num_workers > 1) {
      d.begin = static_cast<Index>((shape.upper_dim - support) * i / (shape.num_workers - 1));
    }
  }
  return data;
}

Instance quadratic_instance(const QuadraticShape& shape) {
  Instance instance{Problem(shape.upper_dim, shape.lower_dim), {}};
  instance.plain.upper_dim = static_cast<Index>(shape.upper_dim);
  instance.plain.lower_dim = static_cast<Index>(shape.lower_dim);
  for (const QuadraticData& data : quadratic_data(shape)) {
    instance.product.add_worker(std::make_unique<QuadraticWorker>(data));
    instance.plain.workers.push_back(reference::quadratic_objective(data));
  }
  Normals normals(shape.seed + 1000);
  set_start(instance, normals, 1);
  return instance;
}

Instance logistic_tuning_instance(const TableShape& shape) {
  Normals normals(shape.seed);
  TuningSettings settings;
  settings.penalty_factor = 0.05;
  settings.shard_weights = ShardWeights::kEqual;
  reference::Problem plain;
  plain.upper_dim = plain.lower_dim = static_cast<Index>(shape.features);
  std::vector<TuningShard> shards;
  for (const Shard& shard : random_shards(normals, shape, 2)) {
    shards.push_back({to_product(shard.train), to_product(shard.validation)});
    plain.workers.push_back(
        reference::logistic_tuning_objective(shard.train, shard.validation, settings.penalty_factor));
  }
  Instance instance{make_regularization_tuning(shards, settings), std::move(plain)};
  set_start(instance, normals, 1);
  return instance;
}

Instance hyper_cleaning_instance(const TableShape& shape) {
  Normals normals(shape.seed);
  CleaningSettings settings;
  settings.classes = shape.classes;
  settings.ridge = 0.01;
  settings.shard_weights = ShardWeights::kEqual;
  reference::Problem plain;
  std::vector<CleaningShard> shards;
  for (const Shard& shard : random_shards(normals, shape, shape.classes)) {
    shards.push_back({to_product(shard.train), to_product(shard.validation)});
    plain.workers.push_back(reference::hyper_cleaning_objective(shard.train, shard.validation, shape.classes,
                                                                settings.ridge, plain.upper_dim));
    plain.upper_dim += shard.train.features.rows();
  }
  plain.lower_dim = static_cast<Index>(shape.features) * shape.classes;
  Instance instance{make_hyper_cleaning(shards, settings), std::move(plain)};
  set_start(instance, normals, 1);
  return instance;
}

}  // namespace adbo::conformance
