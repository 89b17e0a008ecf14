#include "support/reference/reference_lower.h"

#include <stdexcept>

namespace adbo::reference {
namespace {

Vector sum_of(const std::vector<Vector>& terms) {
  Vector sum = Vector::Zero(terms.front().size());
  for (const Vector& term : terms) sum += term;
  return sum;
}

/// y'_{k+1} of one worker (97_35).
Vector next_local(const Objective& worker, const LowerSettings& s, const Vector& v, const Vector& y,
                  const Vector& z, const Vector& phi) {
  return y - s.step_local * (worker.lower_gradient(support_of(worker, v), y) + phi + s.penalty * (y - z));
}

/// z'_{k+1} (97_36) with the given y' and phi.
Vector next_consensus(const LowerSettings& s, const Vector& z, const std::vector<Vector>& y,
                      const std::vector<Vector>& phi) {
  Vector gradient = -sum_of(phi);
  for (const Vector& local : y) gradient += s.penalty * (z - local);
  return z - s.step_consensus * gradient;
}

/// phi_{k+1} of one worker (97_37) with the given y' and z'.
Vector next_dual(const LowerSettings& s, const Vector& phi, const Vector& y, const Vector& z) {
  return phi + s.step_dual * (y - z);
}

RoundState next_round(const Problem& problem, const LowerSettings& s, const Vector& v,
                      const RoundState& now) {
  RoundState next = now;
  const std::size_t workers = problem.num_workers();
  for (std::size_t i = 0; i < workers; ++i)
    next.local[i] = next_local(problem.workers[i], s, v, now.local[i], now.consensus, now.dual[i]);
  const auto update_duals = [&](const Vector& z) {
    for (std::size_t i = 0; i < workers; ++i) next.dual[i] = next_dual(s, now.dual[i], next.local[i], z);
  };
  switch (s.order) {
    case LowerRoundOrder::kPaper:
      next.consensus = next_consensus(s, now.consensus, now.local, now.dual);
      update_duals(next.consensus);
      break;
    case LowerRoundOrder::kDualFirst:
      update_duals(now.consensus);
      next.consensus = next_consensus(s, now.consensus, next.local, next.dual);
      break;
    case LowerRoundOrder::kConsensusFirst:
      next.consensus = next_consensus(s, now.consensus, next.local, now.dual);
      update_duals(now.consensus);
      break;
  }
  return next;
}

/// d grad_y g_i / dv at (v, y), [m x n]: the cross derivative in the columns of the worker's support.
Matrix cross_in_v(const Problem& problem, const Objective& worker, const Vector& v, const Vector& y) {
  Matrix full = Matrix::Zero(problem.lower_dim, problem.upper_dim);
  full.middleCols(worker.begin, worker.size) = worker.lower_cross(support_of(worker, v), y);
  return full;
}

/// dh/dv through all rounds with their coupling, from 97_35 to 97_37 differentiated line by line.
Vector exact_gradient(const Problem& problem, const LowerSettings& s, const Rounds& rounds, const Vector& v,
                      const std::vector<Vector>& y, const Vector& z) {
  const std::size_t workers = problem.num_workers();
  const Matrix zero = Matrix::Zero(problem.lower_dim, problem.upper_dim);
  std::vector<Matrix> d_local(workers, zero);
  std::vector<Matrix> d_dual(workers, zero);
  Matrix d_consensus = zero;
  for (std::size_t k = 0; k + 1 < rounds.size(); ++k) {
    Matrix d_consensus_gradient = zero;
    for (std::size_t i = 0; i < workers; ++i)
      d_consensus_gradient += -d_dual[i] + s.penalty * (d_consensus - d_local[i]);
    const Matrix next_d_consensus = d_consensus - s.step_consensus * d_consensus_gradient;
    for (std::size_t i = 0; i < workers; ++i) {
      const Objective& worker = problem.workers[i];
      const Vector& at = rounds[k].local[i];
      const Matrix hessian = worker.lower_hessian(support_of(worker, v), at);
      d_local[i] = d_local[i] - s.step_local * (hessian * d_local[i] + cross_in_v(problem, worker, v, at) +
                                                d_dual[i] + s.penalty * (d_local[i] - d_consensus));
      d_dual[i] = d_dual[i] + s.step_dual * (d_local[i] - next_d_consensus);
    }
    d_consensus = next_d_consensus;
  }
  const RoundState& last = rounds.back();
  Vector gradient = -2 * d_consensus.transpose() * (z - last.consensus);
  for (std::size_t i = 0; i < workers; ++i) gradient -= 2 * d_local[i].transpose() * (y[i] - last.local[i]);
  return gradient;
}

/// d/dv sum_i ||y_i - y'_{i,K+1}||^2 with one further round of every worker alone; z' and phi are constants,
/// and where `frozen` so is dy'_{k+1}/dy'_k = 1.
Vector local_gradient(const Problem& problem, const LowerSettings& s, bool frozen, const Rounds& rounds,
                      const Vector& v, const std::vector<Vector>& y) {
  Vector gradient = Vector::Zero(problem.upper_dim);
  for (std::size_t i = 0; i < problem.num_workers(); ++i) {
    const Objective& worker = problem.workers[i];
    Matrix d_local = Matrix::Zero(problem.lower_dim, problem.upper_dim);
    for (const RoundState& state : rounds) {  // K + 1 rounds, the last one being the further one
      const Vector& at = state.local[i];
      Matrix change = cross_in_v(problem, worker, v, at);
      if (!frozen) change += worker.lower_hessian(support_of(worker, v), at) * d_local + s.penalty * d_local;
      d_local -= s.step_local * change;
    }
    const RoundState& last = rounds.back();
    const Vector further = next_local(worker, s, v, last.local[i], last.consensus, last.dual[i]);
    gradient -= 2 * d_local.transpose() * (y[i] - further);
  }
  return gradient;
}

}  // namespace

Vector support_of(const Objective& worker, const Vector& v) { return v.segment(worker.begin, worker.size); }

Rounds run_lower_rounds(const Problem& problem, const LowerSettings& settings, const Vector& v,
                        const std::vector<Vector>& local_start, const Vector& consensus_start) {
  const std::vector<Vector> no_dual(problem.num_workers(), Vector::Zero(problem.lower_dim));
  Rounds rounds{RoundState{local_start, consensus_start, no_dual}};
  for (std::int64_t k = 0; k < settings.rounds; ++k)
    rounds.push_back(next_round(problem, settings, v, rounds.back()));
  return rounds;
}

double lower_distance(const Rounds& rounds, const std::vector<Vector>& y, const Vector& z) {
  double sum = (z - rounds.back().consensus).squaredNorm();
  for (std::size_t i = 0; i < y.size(); ++i) sum += (y[i] - rounds.back().local[i]).squaredNorm();
  return sum;
}

Vector lower_distance_gradient(const Problem& problem, const LowerSettings& settings, CutGradient kind,
                               const Rounds& rounds, const Vector& v, const std::vector<Vector>& y,
                               const Vector& z) {
  if (kind != CutGradient::kExact)
    return local_gradient(problem, settings, kind == CutGradient::kLocalFrozen, rounds, v, y);
  if (settings.order != LowerRoundOrder::kPaper)
    throw std::invalid_argument("the exact gradient is defined for the paper's order of the lower rounds");
  return exact_gradient(problem, settings, rounds, v, y, z);
}

}  // namespace adbo::reference
