#pragma once

#include <cstdint>

#include "adbo/batch.h"
#include "adbo/summary.h"
#include "protocol/messages.h"

namespace adbo::detail {

/// Counts the samples of work whose evaluations all took so many of them.
inline void count_samples(WorkCounts& work, const SampleCounts& taken) {
  const auto upper = static_cast<std::int64_t>(taken.upper), lower = static_cast<std::int64_t>(taken.lower);
  work.sample_gradients = work.upper_gradients * upper + work.lower_gradients * lower;
  work.sample_products = (work.hessian_products + work.cross_products) * lower;
}

/// Adds the evaluations that one answer took.
inline void add_work(Counts& counts, const WorkCounts& work) {
  counts.upper_gradients += work.upper_gradients;
  counts.lower_gradients += work.lower_gradients;
  counts.hessian_products += work.hessian_products;
  counts.cross_products += work.cross_products;
  counts.sample_gradients += work.sample_gradients;
  counts.sample_products += work.sample_products;
}

}  // namespace adbo::detail
