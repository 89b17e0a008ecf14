#include "methods/decentralized/network.h"

#include <algorithm>

#include "adbo/random.h"
#include "protocol/vector_math.h"

namespace adbo::detail {
namespace {

/// Apart from the streams that the same seed has elsewhere.
constexpr std::uint64_t kGraphStream = 0x6772617068000000;

using Adjacency = std::vector<std::vector<bool>>;

Adjacency adjacency(GraphKind kind, double probability, std::size_t agents, std::uint64_t seed) {
  Adjacency joined(agents, std::vector<bool>(agents, kind == GraphKind::kComplete));
  RandomStream random(seed, kGraphStream);
  for (std::size_t i = 0; i < agents; ++i) {
    joined[i][i] = false;
    for (std::size_t j = i + 1; kind == GraphKind::kRandom && j < agents; ++j) {
      joined[i][j] = joined[j][i] = random.uniform() < probability;
    }
  }
  for (std::size_t i = 0; i < agents && agents > 1; ++i) {
    const std::size_t next = (i + 1) % agents;
    joined[i][next] = joined[next][i] = true;
  }
  return joined;
}

}  // namespace

Network::Network(GraphKind kind, double probability, std::size_t agents, std::uint64_t seed)
    : links_(agents) {
  const Adjacency joined = adjacency(kind, probability, agents, seed);
  const auto degree = [&](std::size_t i) {
    return static_cast<double>(std::count(joined[i].begin(), joined[i].end(), true));
  };
  for (std::size_t i = 0; i < agents; ++i) {
    double rest = 1;
    for (std::size_t j = 0; j < agents; ++j) {
      if (j != i && !joined[i][j]) continue;
      const double weight = j == i ? 0 : 1 / (1 + std::max(degree(i), degree(j)));
      rest -= weight;
      links_[i].push_back({j, weight});
      if (j > i) ++edges_;
    }
    for (Link& link : links_[i]) {
      if (link.agent == i) link.weight = rest;
    }
  }
}

double Network::weight(std::size_t i, std::size_t j) const {
  for (const Link& link : links_[i]) {
    if (link.agent == j) return link.weight;
  }
  return 0;
}

void Network::mix(const AgentVectors& in, AgentVectors& out) const {
  for (std::size_t i = 0; i < links_.size(); ++i) {
    std::fill(out[i].begin(), out[i].end(), 0.0);
    for (const Link& link : links_[i]) add_scaled(link.weight, in[link.agent], out[i]);
  }
}

}  // namespace adbo::detail
