#pragma once

#include <cstdint>
#include <span>

#include "adbo/state_archive.h"
#include "methods/synchronous/rounds.h"
#include "protocol/method.h"

namespace adbo::detail {

/// A method that works in rounds with all workers (or some of them) instead of taking answers as they come:
/// what FedNest, AID, ITD, stocBio and the reference method have in common. The workers run EvaluationWorker.
class SynchronousMaster : public MethodMaster {
 public:
  explicit SynchronousMaster(const Problem& problem) : rounds_(problem) {}

  [[nodiscard]] bool is_fed_by_arrivals() const final { return false; }
  void fill_step(Request&, std::size_t) const final {}
  void step(std::int64_t, std::span<const std::size_t>, const WorkerStates&) final {}
  Outcome collective(std::int64_t t, std::span<const std::size_t>, Transport& transport) final {
    rounds_.attach(transport);
    try {
      return iterate(t);
    } catch (const RoundEnded& ended) {
      return ended.outcome();
    }
  }
  using MethodMaster::describe;
  void describe(Summary& summary) const override {
    summary.counts = rounds_.counts();
    summary.barrier_virtual_seconds = rounds_.seconds();
  }
  void persist(StateArchive& archive) override { archive(rounds_); }

 protected:
  /// Iteration t, by rounds(). A RoundEnded that leaves it ends the run: the state has to be that of the
  /// iteration before.
  virtual Outcome iterate(std::int64_t t) = 0;
  [[nodiscard]] Rounds& rounds() { return rounds_; }
  [[nodiscard]] const Rounds& rounds() const { return rounds_; }

 private:
  Rounds rounds_;
};

}  // namespace adbo::detail
