#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "adbo/options.h"
#include "adbo/state_archive.h"
#include "methods/synchronous/batch_sampler.h"
#include "methods/synchronous/step_sizes.h"
#include "methods/synchronous/synchronous_master.h"

namespace adbo::detail {

/// What the methods have in common that descend along an estimated hypergradient, with mini-batches or
/// without: the point (x, y), step sizes, draws of batches, and that an iteration which does not end leaves
/// the point as it was.
///
/// All of them estimate, with means over the workers, the hypergradient
///   dF/dx = grad_x G - (d2 g/dx dy) q,   (d2 g/dy dy) q = grad_y G,   at y = y*(x).
class StochasticMaster : public SynchronousMaster {
 public:
  /// `problem` and `options` must outlive the object.
  StochasticMaster(const Problem& problem, const Options& options);

  void fill(Snapshot& draft) override;
  /// The squared norm of the last estimate of the hypergradient.
  Measurement stationarity_gap(Transport&) override;
  [[nodiscard]] std::span<const double> upper_consensus() const override { return point_.upper; }
  [[nodiscard]] std::span<const double> lower_consensus() const override { return point_.lower; }
  /// The last estimate of the hypergradient, [n].
  [[nodiscard]] std::span<const double> direction() const { return direction_; }
  using SynchronousMaster::describe;
  /// The objectives as they were last estimated.
  void describe(TraceRecord& record) const override;
  /// On loading what prepare() makes is made here by the method's own function, before its contents.
  void persist(StateArchive& archive) override {
    SynchronousMaster::persist(archive);
    archive(direction_, steps_, draws_taken_, point_.upper, point_.lower, is_prepared_, upper_value_,
            lower_value_);
  }

 protected:
  /// Of one iteration.
  struct Steps {
    double upper = 0, lower = 0, adjoint = 0;
  };

  /// Before the first iteration, at the start; an ending ends the run. May throw RoundEnded.
  virtual std::optional<Ending> prepare() { return std::nullopt; }
  /// One iteration: moves upper() and lower(), and leaves its estimate in direction_. May throw RoundEnded.
  virtual std::optional<Ending> advance(const Steps& steps) = 0;

  [[nodiscard]] bool is_prepared() const { return is_prepared_; }
  /// The point of the iteration under way, [n] and [m].
  [[nodiscard]] std::span<double> upper() { return next_.upper; }
  [[nodiscard]] std::span<double> lower() { return next_.lower; }
  [[nodiscard]] const BatchSampler& sampler() const { return sampler_; }
  /// Draws that nothing has used yet.
  BatchDraws fresh_draws() { return fresh_draws(1); }
  /// The first of `count` draws that nothing has used yet.
  BatchDraws fresh_draws(std::uint64_t count);

  /// A round at the point of the iteration under way. May throw RoundEnded.
  void evaluate(const Wanted& wanted, std::span<const double> direction, const BatchDraws& draws);
  /// For the record, where a round did not go through evaluate().
  void note_upper_value(double value) { upper_value_ = value; }
  /// StepSizes::see_product(); takes effect from the next iteration on.
  void note_curvature(std::span<const double> direction, std::span<const double> product) {
    steps_.see_product(direction, product);
  }
  /// y <- y - step grad_y g. May throw RoundEnded.
  void step_lower(double step, const BatchDraws& draws);
  /// x <- P(x - step direction_), no coordinate by more than move_limit of its box: where coefficients are
  /// e^x, an estimate that is wrong once would otherwise multiply the lower Hessian by e^12 before a step of
  /// y could become shorter.
  void step_upper(double step);

  std::vector<double> direction_;  ///< [n]

 private:
  struct Point {
    std::vector<double> upper, lower;  ///< x [n], y [m]
  };

  Outcome iterate(std::int64_t t) final;
  std::optional<Ending> start();
  [[nodiscard]] double longest_move();

  const Options& options_;
  StepSizes steps_;
  BatchSampler sampler_;
  std::uint64_t draws_taken_ = 0;
  Point point_, next_;
  std::vector<double> lower_gradient_;  ///< [m]
  bool is_prepared_ = false;
  double upper_value_, lower_value_;
};

/// Gives up a method that would need more memory than this, in bytes.
inline constexpr double kMemoryLimit = 2e9;

}  // namespace adbo::detail
