// Softmax regression: the passes of a worker step. 1667 x 784 x 10 is a worker's training half of
// Fashion-MNIST over 18 workers; the sparse shape is that of a text collection.
#include "adbo/kernels/softmax.h"

#include "kernel_bench.h"

namespace {

using namespace adbo::bench;
using adbo::kernels::Rows;
using adbo::kernels::SoftmaxLoss;

enum class Pass { kValue, kGradient, kHessianProduct, kFused };

void run(benchmark::State& state, const std::shared_ptr<const Rows>& rows, int classes, double entries,
         Pass pass) {
  const std::size_t count = row_count(*rows);
  SoftmaxLoss loss(rows, cyclic_labels(count, classes), classes);
  const double scale = 1.0 / static_cast<double>(count);
  const auto w = normals(loss.dimension(), 0.05, 3), u = normals(loss.dimension(), 0.05, 4);
  const auto weights = std::vector<double>(count, 0.5);
  std::vector<double> gradient(loss.dimension()), hessian(loss.dimension()), derivatives(count);
  for (auto _ : state) {
    switch (pass) {
      case Pass::kValue:
        benchmark::DoNotOptimize(loss.value(w, weights, scale));
        break;
      case Pass::kGradient:
        benchmark::DoNotOptimize(loss.gradient(w, weights, scale, gradient));
        break;
      case Pass::kHessianProduct:
        loss.hessian_product(w, weights, scale, u, hessian);
        break;
      case Pass::kFused:
        benchmark::DoNotOptimize(loss.fused(w, weights, scale, u, gradient, hessian, derivatives));
        break;
    }
    benchmark::ClobberMemory();
  }
  // Two operations per entry, class and sweep; a gradient sweeps forward and backward.
  const double sweeps[] = {1, 2, 3, 4};
  count_flops(state, 2 * entries * classes * sweeps[static_cast<int>(pass)]);
}

struct Shape {
  std::string name;
  std::shared_ptr<const Rows> rows;
  int classes;
  double entries;
};

const int registered = [] {
  const Shape shapes[] = {
      {"1667x784x10", dense_rows(1667, 784), 10, 1667.0 * 784},
      {"2083x22x2", dense_rows(2083, 22), 2, 2083.0 * 22},
      {"1500x54x7", dense_rows(1500, 54), 7, 1500.0 * 54},
      {"sparse_1000x20000x20_nnz100", sparse_rows(1000, 20000, 100), 20, 1000.0 * 100},
  };
  constexpr std::pair<const char*, Pass> kPasses[] = {{"value", Pass::kValue},
                                                      {"gradient", Pass::kGradient},
                                                      {"hessian_product", Pass::kHessianProduct},
                                                      {"fused", Pass::kFused}};
  for (const Shape& shape : shapes) {
    for (const auto& [pass_name, pass] : kPasses) {
      register_for_each_instruction_set("softmax_" + std::string(pass_name) + "/" + shape.name,
                                        [shape, pass = pass](benchmark::State& state) {
                                          run(state, shape.rows, shape.classes, shape.entries, pass);
                                        });
    }
  }
  return 0;
}();

}  // namespace
