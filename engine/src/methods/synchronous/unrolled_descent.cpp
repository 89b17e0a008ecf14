#include "methods/synchronous/unrolled_descent.h"

#include <algorithm>

#include "protocol/vector_math.h"

namespace adbo::detail {

UnrolledDescent::UnrolledDescent(Rounds& rounds, std::int64_t steps)
    : rounds_(rounds),
      iterates_(static_cast<std::size_t>(steps) + 1, std::vector<double>(rounds.problem().lower_dim())),
      product_(rounds.problem().lower_dim()),
      cross_product_(rounds.problem().upper_dim()) {}

std::span<const double> UnrolledDescent::run(std::span<const double> upper, std::span<const double> start,
                                             double step) {
  upper_ = upper;
  step_ = step;
  std::copy(start.begin(), start.end(), iterates_.front().begin());
  for (std::size_t k = 0; k + 1 < iterates_.size(); ++k) {
    rounds_.ask({.lower = true}, {.upper = upper_, .lower = iterates_[k]});
    if (k == 0) start_value_ = rounds_.mean(&Evaluation::lower_value);
    rounds_.mean(&Evaluation::lower_gradient, product_);
    iterates_[k + 1] = iterates_[k];
    add_scaled(-step_, product_, iterates_[k + 1]);
  }
  return iterates_.back();
}

void UnrolledDescent::reverse(std::span<double> adjoint, std::span<double> gradient) {
  for (std::size_t k = iterates_.size() - 1; k-- > 0;) {
    rounds_.ask({.hessian_product = true, .cross_product = true},
                {.upper = upper_, .lower = iterates_[k], .direction = adjoint});
    rounds_.mean(&Evaluation::hessian_product, product_);
    rounds_.mean_on_supports(&Evaluation::cross_product, cross_product_);
    add_scaled(-step_, cross_product_, gradient);
    add_scaled(-step_, product_, adjoint);
  }
}

}  // namespace adbo::detail
