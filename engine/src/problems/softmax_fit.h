#pragma once
// Softmax regressions on rows in several parts, one loss object per part: what fit_softmax() and
// measure_cleaning() share.

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "adbo/kernels/softmax.h"
#include "adbo/problems/hyper_cleaning.h"
#include "runtime/executor.h"

namespace adbo::detail {

/// The sum over one part's rows of scale weight_j CE_j.
struct WeightedLoss {
  kernels::SoftmaxLoss* loss = nullptr;
  std::span<const double> weights;  // [rows] or empty (1)
  double scale = 1;
};

/// Minimizes the sum of the parts plus ridge ||y||^2 from `start` (zeros when empty).
[[nodiscard]] ModelFit fit_weighted_losses(Executor& executor, std::span<const WeightedLoss> parts,
                                           double ridge, std::span<const double> start,
                                           const ResolveOptions& options);

/// Calls body(loss of the chunk, begin, count) for contiguous chunks of the rows that cover them all, on the
/// given number of threads (0: all processors). Chunks are copies, made by the thread that works on them; one
/// thread gets the rows themselves as one chunk. Where a chunk begins changes no bit of a row's result.
void for_each_row_chunk(
    const LabelledRows& rows, int classes, std::int64_t threads,
    const std::function<void(kernels::SoftmaxLoss& loss, std::size_t begin, std::size_t count)>& body);

/// The share of rows whose most probable class is their label.
[[nodiscard]] double accuracy_of(std::span<const std::int32_t> predicted,
                                 std::span<const std::int32_t> labels);

}  // namespace adbo::detail
