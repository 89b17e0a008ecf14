#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "adbo/batch.h"
#include "adbo/problem.h"

namespace adbo::detail {

/// Which of a sampler's draws a round uses; the same numbers give the same batches again.
struct BatchDraws {
  std::uint64_t upper = 0, lower = 0;
  bool in_order = false;  ///< draw d is batch d mod count, not a random one: for passes over all batches
};

/// Every worker's mini-batches: the batch of a worker's d-th draw is a function of (seed, worker, d) alone,
/// uniform over the worker's batches and independent between workers, levels and draws. There is no state to
/// keep or to restore, and a method may return to an earlier draw.
class BatchSampler {
 public:
  /// `batch_rows`: samples of a batch at most; 0, or as many as the worker has: every batch is the whole.
  BatchSampler(const Problem& problem, std::uint64_t seed, std::int64_t batch_rows);

  [[nodiscard]] Batch upper(std::size_t worker, const BatchDraws& draws) const {
    return upper_[worker].at(draws.upper, draws.in_order);
  }
  [[nodiscard]] Batch lower(std::size_t worker, const BatchDraws& draws) const {
    return lower_[worker].at(draws.lower, draws.in_order);
  }
  /// Batches of a worker: its draws have indices below that.
  [[nodiscard]] std::size_t upper_count(std::size_t worker) const { return upper_[worker].count; }
  [[nodiscard]] std::size_t lower_count(std::size_t worker) const { return lower_[worker].count; }
  /// Whether every batch of every worker is the whole: estimates are exact.
  [[nodiscard]] bool is_exact() const;

 private:
  struct Level {
    std::uint64_t key = 0;  ///< of the level's own random numbers
    std::size_t count = 1;
    [[nodiscard]] Batch at(std::uint64_t draw, bool in_order) const;
  };
  std::vector<Level> upper_, lower_;  ///< per worker
};

}  // namespace adbo::detail
