#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "adbo/state_archive.h"

namespace adbo::detail {

/// Q^{t+1}: the first S arrivals, and every worker that would otherwise be silent for more than tau
/// iterations.
class ActiveSet {
 public:
  ActiveSet(std::size_t num_workers, std::size_t wanted, std::int64_t max_staleness);

  /// Begins the collection of iteration t.
  void begin(std::int64_t t);
  /// A worker's answer was taken; at most once per worker and iteration.
  void add(std::size_t worker);
  /// At least S answers, and nobody overdue is missing.
  [[nodiscard]] bool complete() const { return members_.size() >= wanted_ && overdue_missing_ == 0; }
  /// Ends the collection: the members in ascending order, counted as active at t.
  std::span<const std::size_t> finish();
  /// Never wanted again. Within a collection, a worker that has not been added; a synchronous method's, which
  /// collects nothing, at any time.
  void drop(std::size_t worker);
  /// Every worker was heard at iteration t (a restart).
  void mark_all(std::int64_t t);
  /// Iterations since the most silent worker was active, seen after iteration t.
  [[nodiscard]] std::int64_t longest_silence(std::int64_t t) const;
  [[nodiscard]] bool is_dropped(std::size_t worker) const { return is_dropped_[worker] != 0; }
  /// Collected since begin().
  [[nodiscard]] std::span<const std::size_t> members() const { return members_; }

  void persist(StateArchive& archive) {
    archive(wanted_, is_dropped_, last_active_, overdue_missing_, t_);
    archive.sized(members_);
    archive.require(wanted_ >= 1 && wanted_ <= last_active_.size(),
                    "more workers are awaited than there are");
    for (const std::uint8_t flag : is_dropped_) archive.require(flag <= 1, "a flag that is none");
    archive.require_below(members_, last_active_.size(), "an answer of a worker that is not there");
    archive.require(overdue_missing_ <= last_active_.size(), "more workers are overdue than there are");
  }

 private:
  [[nodiscard]] bool is_overdue(std::size_t worker) const {
    return is_dropped_[worker] == 0 && t_ - last_active_[worker] >= max_staleness_;
  }

  std::size_t wanted_;
  std::vector<std::uint8_t> is_dropped_;
  std::int64_t max_staleness_;
  std::vector<std::int64_t> last_active_;  ///< -1: not yet
  std::vector<std::size_t> members_;
  std::size_t overdue_missing_ = 0;
  std::int64_t t_ = 0;
};

}  // namespace adbo::detail
