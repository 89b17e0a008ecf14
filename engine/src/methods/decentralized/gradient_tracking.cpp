#include "methods/decentralized/gradient_tracking.h"

#include "protocol/vector_math.h"

namespace adbo::detail {

GradientTracking::GradientTracking(const AgentVectors& like)
    : trackers_(like.size(), std::vector<double>(like.front().size())), last_(trackers_), mixed_(trackers_) {}

void GradientTracking::absorb(const AgentVectors& directions) {
  for (std::size_t i = 0; i < directions.size(); ++i) {
    add_scaled(1.0, directions[i], trackers_[i]);
    add_scaled(-1.0, last_[i], trackers_[i]);
    last_[i] = directions[i];
  }
}

void GradientTracking::step(double step, AgentVectors& z) const {
  for (std::size_t i = 0; i < z.size(); ++i) add_scaled(-step, trackers_[i], z[i]);
}

void GradientTracking::mix(const Network& network) {
  network.mix(trackers_, mixed_);
  trackers_.swap(mixed_);
}

}  // namespace adbo::detail
