#include "methods/cpbo/exact_multipliers.h"

#include "protocol/vector_math.h"

namespace adbo::detail {
namespace {

/// Of the quadratic program, relative to Q's diagonal: cuts next to each other are nearly parallel.
constexpr double kRegularization = 1e-10;

}  // namespace

ExactMultipliers::ExactMultipliers(std::size_t capacity) : qp_(capacity, kRegularization) {}

void ExactMultipliers::solve(const Step& step, Polytope& polytope) {
  if (!is_current_) build_gram(step, polytope);
  const std::size_t size = polytope.size();
  linear_.resize(size);
  multiplier_.resize(size);
  for (std::size_t l = 0; l < size; ++l) {
    const Cut& cut = polytope.cut(l);
    const double value =
        dot(cut.upper, step.point_upper) + dot(cut.lower_consensus, step.point_lower) + cut.offset;
    linear_[l] = value - step.upper * dot(cut.upper, step.gradient_upper) -
                 step.lower * dot(cut.lower_consensus, step.gradient_lower);
    multiplier_[l] = polytope.multiplier(l);
  }
  qp_.solve(gram_, linear_, multiplier_);
  for (std::size_t l = 0; l < size; ++l) polytope.set_multiplier(l, multiplier_[l]);
}

void ExactMultipliers::build_gram(const Step& step, const Polytope& polytope) {
  const std::size_t size = polytope.size();
  gram_.resize(size * size);
  for (std::size_t k = 0; k < size; ++k) {
    for (std::size_t l = 0; l <= k; ++l) {
      const Cut &one = polytope.cut(k), &other = polytope.cut(l);
      gram_[k * size + l] = gram_[l * size + k] =
          step.upper * dot(one.upper, other.upper) +
          step.lower * dot(one.lower_consensus, other.lower_consensus);
    }
  }
  is_current_ = true;
}

}  // namespace adbo::detail
