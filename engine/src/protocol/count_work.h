#pragma once

#include "adbo/summary.h"
#include "protocol/messages.h"

namespace adbo::detail {

/// Adds the evaluations that one answer took.
inline void add_work(Counts& counts, const WorkCounts& work) {
  counts.upper_gradients += work.upper_gradients;
  counts.lower_gradients += work.lower_gradients;
  counts.hessian_products += work.hessian_products;
  counts.cross_products += work.cross_products;
}

}  // namespace adbo::detail
