#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "adbo/options.h"
#include "adbo/state_archive.h"
#include "methods/decentralized/network.h"
#include "methods/synchronous/step_sizes.h"
#include "methods/synchronous/synchronous_master.h"

namespace adbo::detail {

/// What the decentralized methods share: every agent i has x_i, y_i and an adjoint q_i of its own, evaluates
/// at them, and hears its neighbours. The engine's master plays the network: it keeps the agents' vectors and
/// mixes them, while messages and bytes are those over the graph's edges. A round waits for the slowest
/// agent. What the run reports are the means over the agents, and the largest deviation from them as
/// consensus error.
class DecentralizedMaster : public SynchronousMaster {
 public:
  /// Both must outlive the object.
  DecentralizedMaster(const Problem& problem, const Options& options,
                      StepCurvature curvature = StepCurvature::kLocal);

  void fill(Snapshot& draft) override;
  /// ||mean of the agents' hypergradients||^2 in the last iteration; bounds are not looked at.
  Measurement stationarity_gap(Transport&) override;
  /// An agent's neighbours know nothing of the agents behind it.
  [[nodiscard]] bool can_drop() const override { return false; }
  [[nodiscard]] std::span<const double> upper_consensus() const override { return mean_upper_; }
  [[nodiscard]] std::span<const double> lower_consensus() const override { return mean_lower_; }
  void describe(TraceRecord& record) const override;
  void describe(Summary& summary) const override;
  void persist(StateArchive& archive) override {
    SynchronousMaster::persist(archive);
    archive(upper_, lower_, adjoint_, hypergradient_, next_draw_, steps_, mean_upper_, mean_lower_,
            mean_hypergradient_, value_, gap_);
  }

 protected:
  /// An iteration of all agents is lower_steps steps of y, the adjoint's, and, at the hypergradients then, a
  /// step of x.
  virtual void step_lower(double step) = 0;
  virtual void improve_adjoint(double step) = 0;
  virtual void step_upper(double step) = 0;

  /// One round at every agent's (x_i, y_i) in direction q_i, from mini-batches where batch_rows says so.
  void evaluate(const Wanted& wanted);
  /// Sets adjoint_gradient_ to s_i = (d2 g_i/dy dy) q_i - grad_y G_i. One round; x_i and y_i stay while q
  /// moves, and grad_y G_i of the iteration's first call (`is_first`) with them.
  void evaluate_adjoint_gradients(bool is_first);
  /// Sets hypergradient_ to grad_x G_i - (d2 g_i/dx dy) q_i, zero outside of an agent's support. One round.
  void evaluate_hypergradients();
  /// out = W in, with what it sends counted.
  void exchange(const AgentVectors& in, AgentVectors& out);
  /// r_i <- (1 - alpha) r_i + alpha hypergradient_i, alpha = dsbo_averaging.
  void average_hypergradients(AgentVectors& average) const;
  void keep_within_bounds();

  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] const StepSizes& steps() const { return steps_; }
  [[nodiscard]] const Network& network() const { return network_; }
  [[nodiscard]] AgentVectors uppers() const { return {agents_, std::vector<double>(mean_upper_.size())}; }
  [[nodiscard]] AgentVectors lowers() const { return {agents_, std::vector<double>(mean_lower_.size())}; }

  std::size_t agents_;
  AgentVectors upper_, lower_, adjoint_;    ///< x_i, y_i, q_i
  AgentVectors adjoint_gradient_;           ///< s_i, [N][m]
  AgentVectors hypergradient_;              ///< [N][n]
  AgentVectors mixed_upper_, mixed_lower_;  ///< scratch of the mixing

 private:
  Outcome iterate(std::int64_t t) final;
  void advance(std::int64_t t);
  void take_means();
  [[nodiscard]] double consensus_error() const;

  const Options& options_;
  BatchSampler sampler_;
  std::uint64_t next_draw_ = 0;
  StepSizes steps_;
  Network network_;
  AgentVectors upper_gradient_lower_;            ///< grad_y G_i of the iteration, [N][m]
  std::vector<EvaluationPoint> points_;          ///< views of the agents' vectors
  std::vector<double> mean_upper_, mean_lower_;  ///< after the last complete iteration
  std::vector<double> mean_hypergradient_;       ///< [n]
  double value_, gap_;                           ///< NaN before the first iteration
};

}  // namespace adbo::detail
