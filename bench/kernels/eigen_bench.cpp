// The baseline: the same gradient as two plain Eigen matrix products with the link between them. Once over
// features stored as double (twice the memory, no conversion), once over float32 features converted in every
// call.
#include <Eigen/Core>

#include "bench_data.h"

namespace {

using namespace adbo::bench;
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using FloatMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Logits become residuals scaled by `scale`; returns the scaled sum of the cross entropies.
double softmax_link(Matrix& logits, const std::vector<std::int32_t>& labels, double scale) {
  double value = 0;
  for (Eigen::Index r = 0; r < logits.rows(); ++r) {
    auto row = logits.row(r);
    const auto label = static_cast<Eigen::Index>(labels[static_cast<std::size_t>(r)]);
    const double gap = row(label) - row.maxCoeff();
    row.array() = (row.array() - row.maxCoeff()).exp();
    const double sum = row.sum();
    value += scale * (std::log(sum) - gap);
    row *= scale / sum;
    row(label) -= scale;
  }
  return value;
}

template <class Features>
void eigen_gradient(benchmark::State& state) {
  constexpr Eigen::Index kRows = 1667, kCols = 784, kClasses = 10;
  Random random(1);
  Features x(kRows, kCols);
  for (Eigen::Index i = 0; i < x.size(); ++i)
    x.data()[i] = static_cast<typename Features::Scalar>(random.normal());
  const auto labels = cyclic_labels(kRows, kClasses);
  const auto w_values = normals(kClasses * kCols, 0.05, 3);
  const Eigen::Map<const Matrix> w(w_values.data(), kClasses, kCols);
  Matrix logits(kRows, kClasses), gradient(kClasses, kCols);
  for (auto _ : state) {
    if constexpr (std::is_same_v<Features, Matrix>) {
      logits.noalias() = x * w.transpose();
    } else {
      logits.noalias() = x.template cast<double>() * w.transpose();
    }
    benchmark::DoNotOptimize(softmax_link(logits, labels, 1.0 / kRows));
    if constexpr (std::is_same_v<Features, Matrix>) {
      gradient.noalias() = logits.transpose() * x;
    } else {
      gradient.noalias() = logits.transpose() * x.template cast<double>();
    }
    benchmark::ClobberMemory();
  }
  count_flops(state, 4.0 * kRows * kCols * kClasses);
}

BENCHMARK(eigen_gradient<Matrix>)
    ->Name("eigen_gradient/1667x784x10/double_features")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(eigen_gradient<FloatMatrix>)
    ->Name("eigen_gradient/1667x784x10/float_features")
    ->Unit(benchmark::kMicrosecond);

}  // namespace
