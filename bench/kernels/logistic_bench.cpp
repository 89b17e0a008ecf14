// Logistic regression. 2083 x 22 is a worker's share of ijcnn1 over 24 workers.
#include "adbo/kernels/logistic.h"

#include "kernel_bench.h"

namespace {

using namespace adbo::bench;
using adbo::kernels::LogisticLoss;
using adbo::kernels::Rows;

enum class Pass { kGradient, kHessianProduct, kFused };

void run(benchmark::State& state, const std::shared_ptr<const Rows>& rows, double entries, Pass pass) {
  const std::size_t count = row_count(*rows);
  auto labels = cyclic_labels(count, 2);
  for (auto& label : labels) label = 2 * label - 1;
  LogisticLoss loss(rows, std::move(labels));
  const double scale = 1.0 / static_cast<double>(count);
  const auto w = normals(loss.dimension(), 0.2, 3), u = normals(loss.dimension(), 0.2, 4);
  std::vector<double> gradient(loss.dimension()), hessian(loss.dimension()), derivatives(count);
  for (auto _ : state) {
    switch (pass) {
      case Pass::kGradient:
        benchmark::DoNotOptimize(loss.gradient(w, {}, scale, gradient));
        break;
      case Pass::kHessianProduct:
        loss.hessian_product(w, {}, scale, u, hessian);
        break;
      case Pass::kFused:
        benchmark::DoNotOptimize(loss.fused(w, {}, scale, u, gradient, hessian, derivatives));
        break;
    }
    benchmark::ClobberMemory();
  }
  const double sweeps[] = {2, 3, 4};
  count_flops(state, 2 * entries * sweeps[static_cast<int>(pass)]);
}

const int registered = [] {
  const auto dense = dense_rows(2083, 22);
  const auto sparse = sparse_rows(2083, 22, 13);
  constexpr std::pair<const char*, Pass> kPasses[] = {
      {"gradient", Pass::kGradient}, {"hessian_product", Pass::kHessianProduct}, {"fused", Pass::kFused}};
  for (const auto& [pass_name, pass] : kPasses) {
    register_for_each_instruction_set(
        "logistic_" + std::string(pass_name) + "/2083x22",
        [dense, pass = pass](benchmark::State& state) { run(state, dense, 2083.0 * 22, pass); });
    register_for_each_instruction_set(
        "logistic_" + std::string(pass_name) + "/sparse_2083x22_nnz13",
        [sparse, pass = pass](benchmark::State& state) { run(state, sparse, 2083.0 * 13, pass); });
  }
  return 0;
}();

}  // namespace
