#include "methods/stochastic/neumann_hypergradient.h"

#include "protocol/vector_math.h"

namespace adbo::detail {

NeumannHypergradient::NeumannHypergradient(Rounds& rounds, std::int64_t terms)
    : rounds_(rounds),
      terms_(static_cast<std::uint64_t>(terms)),
      last_direction_(rounds.problem().lower_dim()),
      remainder_(rounds.problem().lower_dim()),
      product_(rounds.problem().lower_dim()),
      adjoint_(rounds.problem().lower_dim()),
      cross_(rounds.problem().upper_dim()) {}

void NeumannHypergradient::estimate(const At& at, double step, std::span<double> out) {
  BatchDraws draws = at.first;
  const auto ask = [&](const Wanted& wanted, std::span<const double> direction) {
    rounds_.ask(wanted, {.upper = at.upper, .lower = at.lower, .direction = direction}, at.sampler, draws);
    ++draws.upper, ++draws.lower;
  };
  ask({.upper = true}, {});
  upper_value_ = rounds_.mean(&Evaluation::upper_value);
  rounds_.mean_on_supports(&Evaluation::upper_gradient_upper, out);
  rounds_.mean(&Evaluation::upper_gradient_lower, remainder_);
  adjoint_ = remainder_;
  for (std::uint64_t k = 0; k < terms_; ++k) {
    ask({.hessian_product = true}, remainder_);
    rounds_.mean(&Evaluation::hessian_product, product_);
    last_direction_ = remainder_;
    add_scaled(-step, product_, remainder_);
    add_scaled(1.0, remainder_, adjoint_);
  }
  for (double& entry : adjoint_) entry *= step;
  ask({.cross_product = true}, adjoint_);
  rounds_.mean_on_supports(&Evaluation::cross_product, cross_);
  add_scaled(-1.0, cross_, out);
}

}  // namespace adbo::detail
