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

/// Adds evaluations to those of an answer (WorkCounts) or of a run (Counts).
template <class Total>
void add_work(Total& total, const WorkCounts& work) {
  total.upper_gradients += work.upper_gradients;
  total.lower_gradients += work.lower_gradients;
  total.hessian_products += work.hessian_products;
  total.cross_products += work.cross_products;
  total.sample_gradients += work.sample_gradients;
  total.sample_products += work.sample_products;
}

}  // namespace adbo::detail
