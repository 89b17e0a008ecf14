#pragma once

#include "adbo/state_archive.h"
#include "methods/decentralized/network.h"

namespace adbo::detail {

/// Every agent's running estimate d_i of the agents' mean direction. With s_i what agent i evaluates,
///   d_i <- d_i + s_i - (s_i of the last time)   before a step,   d <- W d   with the step's exchange,
/// so that sum_i d_i = sum_i s_i always, and differences between agents leave d while the s_i settle, however
/// far apart these stay.
class GradientTracking {
 public:
  /// Of vectors like those of `like`, from zero.
  explicit GradientTracking(const AgentVectors& like);

  /// Takes over the agents' new directions s_i.
  void absorb(const AgentVectors& directions);
  /// z_i <- z_i - step d_i.
  void step(double step, AgentVectors& z) const;
  /// d <- W d.
  void mix(const Network& network);

  void persist(StateArchive& archive) { archive(trackers_, last_); }

 private:
  AgentVectors trackers_;  ///< d_i
  AgentVectors last_;      ///< s_i of the last time
  AgentVectors mixed_;     ///< scratch
};

}  // namespace adbo::detail
