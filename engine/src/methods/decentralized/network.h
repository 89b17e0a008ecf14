#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "adbo/options.h"

namespace adbo::detail {

/// One vector per agent.
using AgentVectors = std::vector<std::vector<double>>;

/// A connected undirected graph of N agents with the weights of Metropolis: w_ij = 1 / (1 + max(d_i, d_j))
/// for neighbours with d_i and d_j of them, w_ii the rest to 1. W is symmetric and doubly stochastic.
class Network {
 public:
  /// Ring, complete, or random: a ring with every other pair joined with the probability given. The same seed
  /// gives the same graph.
  Network(GraphKind kind, double probability, std::size_t agents, std::uint64_t seed);

  [[nodiscard]] std::size_t agents() const { return links_.size(); }
  [[nodiscard]] std::size_t edges() const { return edges_; }
  [[nodiscard]] double weight(std::size_t i, std::size_t j) const;
  /// out_i = sum_j w_ij in_j; `out` has the sizes of `in` and is another object.
  void mix(const AgentVectors& in, AgentVectors& out) const;

 private:
  struct Link {
    std::size_t agent = 0;
    double weight = 0;
  };
  std::vector<std::vector<Link>> links_;  ///< of every agent, itself included, ascending
  std::size_t edges_ = 0;
};

}  // namespace adbo::detail
