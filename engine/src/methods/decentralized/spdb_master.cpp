#include "methods/decentralized/spdb_master.h"

namespace adbo::detail {

ConsensusSteps::ConsensusSteps(const Network& network, double penalty, const AgentVectors& like)
    : penalty_(penalty), dual_(network.agents(), std::vector<double>(like.front().size())) {}

void ConsensusSteps::step_primal(double step, const AgentVectors& gradients, const AgentVectors& mixed,
                                 AgentVectors& z) const {
  for (std::size_t i = 0; i < z.size(); ++i) {
    for (std::size_t k = 0; k < z[i].size(); ++k) {
      z[i][k] += penalty_ * (mixed[i][k] - z[i][k]) - step * (gradients[i][k] + dual_[i][k]);
    }
  }
}

void ConsensusSteps::step_dual(double step, const AgentVectors& mixed, const AgentVectors& z) {
  const double rate = penalty_ / step;
  for (std::size_t i = 0; i < z.size(); ++i) {
    for (std::size_t k = 0; k < z[i].size(); ++k) dual_[i][k] += rate * (z[i][k] - mixed[i][k]);
  }
}

SpdbMaster::SpdbMaster(const Problem& problem, const Options& options)
    : DecentralizedMaster(problem, options),
      lower_steps_(network(), options.spdb_penalty, lower_),
      adjoint_steps_(network(), options.spdb_penalty, lower_),
      upper_steps_(network(), options.spdb_penalty, upper_),
      mixed_y_(lower_),  // all agents are equal at the start
      mixed_q_(adjoint_),
      mixed_x_(upper_),
      lower_gradient_(lowers()) {}

void SpdbMaster::step_lower(double step) {
  evaluate({.lower = true});
  for (std::size_t i = 0; i < agents_; ++i) lower_gradient_[i] = rounds().answer(i).lower_gradient;
  lower_steps_.step_primal(step, lower_gradient_, mixed_y_, lower_);
  exchange(lower_, mixed_y_);
  lower_steps_.step_dual(step, mixed_y_, lower_);
}

void SpdbMaster::improve_adjoint(double step) {
  for (std::int64_t k = 0; k < options().adjoint_steps; ++k) {
    evaluate_adjoint_gradients(k == 0);
    adjoint_steps_.step_primal(step, adjoint_gradient_, mixed_q_, adjoint_);
    exchange(adjoint_, mixed_q_);
    adjoint_steps_.step_dual(step, mixed_q_, adjoint_);
  }
}

void SpdbMaster::step_upper(double step) {
  upper_steps_.step_primal(step, hypergradient_, mixed_x_, upper_);
  keep_within_bounds();
  exchange(upper_, mixed_x_);
  upper_steps_.step_dual(step, mixed_x_, upper_);
}

}  // namespace adbo::detail
