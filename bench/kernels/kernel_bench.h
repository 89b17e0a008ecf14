#pragma once
// Registration of a benchmark once per instruction set.

#include <benchmark/benchmark.h>
#include <hwy/targets.h>

#include <set>
#include <string>

#include "adbo/kernels/instruction_set.h"
#include "adbo/kernels/rows.h"
#include "bench_data.h"

namespace adbo::bench {

inline void use_target(std::int64_t target) {
  hwy::SetSupportedTargetsForTest(target);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

/// Registers `name`/<instruction set> for each set of this machine; body(state) constructs its loss itself.
template <class Body>
void register_for_each_instruction_set(const std::string& name, const Body& body) {
  std::set<std::string> seen;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    use_target(target);
    const std::string set(kernels::active_instruction_set());
    if (!seen.insert(set).second) continue;
    benchmark::RegisterBenchmark((name + "/" + set).c_str(), [target, body](benchmark::State& state) {
      use_target(target);
      body(state);
      use_target(0);
    })->Unit(benchmark::kMicrosecond);
  }
  use_target(0);
}

inline std::shared_ptr<const kernels::Rows> dense_rows(std::size_t rows, std::size_t cols) {
  Random random(1);
  kernels::DenseRows matrix(rows, cols);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t k = 0; k < cols; ++k) matrix.mutable_row(r)[k] = static_cast<float>(random.normal());
  }
  return std::make_shared<const kernels::Rows>(std::move(matrix));
}

/// Rows with `nonzeros` entries each, one in each of as many equal pieces of the columns.
inline std::shared_ptr<const kernels::Rows> sparse_rows(std::size_t rows, std::size_t cols,
                                                        std::size_t nonzeros) {
  Random random(2);
  kernels::SparseRows matrix;
  matrix.cols = cols;
  const double piece = static_cast<double>(cols) / static_cast<double>(nonzeros);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t n = 0; n < nonzeros; ++n) {
      matrix.column.push_back(static_cast<std::int32_t>((static_cast<double>(n) + random.uniform()) * piece));
      matrix.value.push_back(static_cast<float>(random.normal()));
    }
    matrix.row_begin.push_back(static_cast<std::int64_t>(matrix.value.size()));
  }
  return std::make_shared<const kernels::Rows>(std::move(matrix));
}

}  // namespace adbo::bench
