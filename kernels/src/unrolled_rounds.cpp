#include "adbo/kernels/unrolled_rounds.h"

namespace adbo::kernels {

void local_round(const RoundSteps& steps, std::span<const double> local, std::span<const double> gradient,
                 std::span<const double> dual, std::span<const double> consensus, std::span<double> next) {
  for (std::size_t k = 0; k < next.size(); ++k) {
    const double pull = steps.penalty * (local[k] - consensus[k]);
    next[k] = local[k] - steps.lower_local * (gradient[k] + dual[k] + pull);
  }
}

void consensus_round(const RoundSteps& steps, std::size_t num_workers, std::span<const double> dual_sum,
                     std::span<const double> local_sum, std::span<double> consensus) {
  const double n = static_cast<double>(num_workers);
  for (std::size_t k = 0; k < consensus.size(); ++k) {
    const double gradient = -dual_sum[k] + steps.penalty * (n * consensus[k] - local_sum[k]);
    consensus[k] -= steps.lower_consensus * gradient;
  }
}

void dual_round(const RoundSteps& steps, std::span<const double> local, std::span<const double> consensus,
                std::span<double> dual) {
  for (std::size_t k = 0; k < dual.size(); ++k) dual[k] += steps.lower_dual * (local[k] - consensus[k]);
}

void correct_local_adjoint(const RoundSteps& steps, std::span<const double> dual_adjoint,
                           std::span<double> local_adjoint) {
  for (std::size_t k = 0; k < local_adjoint.size(); ++k)
    local_adjoint[k] += steps.lower_dual * dual_adjoint[k];
}

void reverse_local_round(const RoundSteps& steps, std::span<const double> hessian_product,
                         std::span<const double> consensus_adjoint, std::span<double> local_adjoint,
                         std::span<double> dual_adjoint) {
  for (std::size_t k = 0; k < local_adjoint.size(); ++k) {
    const double corrected = local_adjoint[k];
    const double from_consensus = steps.lower_consensus * consensus_adjoint[k];
    dual_adjoint[k] += from_consensus - steps.lower_local * corrected;
    local_adjoint[k] = corrected - steps.lower_local * (hessian_product[k] + steps.penalty * corrected) +
                       steps.penalty * from_consensus;
  }
}

void correct_consensus_adjoint(const RoundSteps& steps, std::span<const double> dual_adjoint_sum,
                               std::span<double> consensus_adjoint) {
  for (std::size_t k = 0; k < consensus_adjoint.size(); ++k) {
    consensus_adjoint[k] -= steps.lower_dual * dual_adjoint_sum[k];
  }
}

void reverse_consensus_round(const RoundSteps& steps, std::size_t num_workers,
                             std::span<const double> corrected_local_adjoint_sum,
                             std::span<double> consensus_adjoint) {
  const double keep = 1 - steps.lower_consensus * steps.penalty * static_cast<double>(num_workers);
  for (std::size_t k = 0; k < consensus_adjoint.size(); ++k) {
    consensus_adjoint[k] =
        keep * consensus_adjoint[k] + steps.lower_local * steps.penalty * corrected_local_adjoint_sum[k];
  }
}

void reverse_isolated_round(const RoundSteps& steps, std::span<const double> hessian_product,
                            std::span<double> adjoint) {
  for (std::size_t k = 0; k < adjoint.size(); ++k) {
    adjoint[k] -= steps.lower_local * (hessian_product[k] + steps.penalty * adjoint[k]);
  }
}

}  // namespace adbo::kernels
