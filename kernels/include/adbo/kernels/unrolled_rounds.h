#pragma once
// The K rounds that estimate the lower solution (97_35 to 97_37), and their exact reverse: plain vector
// arithmetic, the worker's and the master's parts apart. phi(v) = ({y'_iK}, z'_K); phi_i is the dual of y'_i
// = z'.

#include <cstddef>
#include <span>

namespace adbo::kernels {

struct RoundSteps {
  double lower_local = 0;      ///< eta_y
  double lower_consensus = 0;  ///< eta_z
  double lower_dual = 0;       ///< eta_phi
  double penalty = 0;          ///< mu
};

// Forward. All spans have the lower variable's size m.

/// Worker, 97_35: next = y' - eta_y (gradient + dual + mu (y' - z')), gradient = grad_y g_i(v, y').
void local_round(const RoundSteps& steps, std::span<const double> local, std::span<const double> gradient,
                 std::span<const double> dual, std::span<const double> consensus, std::span<double> next);
/// Master, 97_36, in place: z' <- z' - eta_z (-sum_i phi_i + mu sum_i (z' - y'_i)).
void consensus_round(const RoundSteps& steps, std::size_t num_workers, std::span<const double> dual_sum,
                     std::span<const double> local_sum, std::span<double> consensus);
/// Master, 97_37, in place: phi_i <- phi_i + eta_phi (y'_i - z').
void dual_round(const RoundSteps& steps, std::span<const double> local, std::span<const double> consensus,
                std::span<double> dual);

// Reverse of one round k in the paper's order. A bar denotes the derivative of a scalar (here h) by a
// variable.
//
// From ybar_{k+1}, phibar_{k+1} (per worker) and zbar_{k+1}:
//   corrected:  ybar^c = ybar_{k+1} + eta_phi phibar_{k+1},   zbar^c = zbar_{k+1} - eta_phi sum_i
//   phibar_{i,k+1}   (97_37) vbar      -= eta_y (d2 g_i/dv dy)(y'_k) ybar^c (97_35) ybar_k     = ybar^c -
//   eta_y ((d2 g_i/dy dy)(y'_k) ybar^c + mu ybar^c) + eta_z mu zbar^c                  (97_35, 97_36)
//   phibar_k   = phibar_{k+1} - eta_y ybar^c + eta_z zbar^c
//   zbar_k     = (1 - eta_z mu N) zbar^c + eta_y mu sum_i ybar_i^c

/// Worker, in place: ybar_{k+1} -> ybar^c.
void correct_local_adjoint(const RoundSteps& steps, std::span<const double> dual_adjoint,
                           std::span<double> local_adjoint);
/// Worker, in place: ybar^c -> ybar_k and phibar_{k+1} -> phibar_k; hessian_product = (d2 g_i/dy dy)(y'_k)
/// ybar^c.
void reverse_local_round(const RoundSteps& steps, std::span<const double> hessian_product,
                         std::span<const double> consensus_adjoint, std::span<double> local_adjoint,
                         std::span<double> dual_adjoint);
/// Master, in place: zbar_{k+1} -> zbar^c.
void correct_consensus_adjoint(const RoundSteps& steps, std::span<const double> dual_adjoint_sum,
                               std::span<double> consensus_adjoint);
/// Master, in place: zbar^c -> zbar_k.
void reverse_consensus_round(const RoundSteps& steps, std::size_t num_workers,
                             std::span<const double> corrected_local_adjoint_sum,
                             std::span<double> consensus_adjoint);

/// Worker alone, in place: u -> (I - eta_y (d2 g_i/dy dy + mu I)) u, the reverse of local_round with z' and
/// phi constant.
void reverse_isolated_round(const RoundSteps& steps, std::span<const double> hessian_product,
                            std::span<double> adjoint);

}  // namespace adbo::kernels
