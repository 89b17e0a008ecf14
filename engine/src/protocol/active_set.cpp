#include "protocol/active_set.h"

#include <algorithm>

namespace adbo::detail {

ActiveSet::ActiveSet(std::size_t num_workers, std::size_t wanted, std::int64_t max_staleness)
    : wanted_(wanted),
      is_dropped_(num_workers, 0),
      max_staleness_(max_staleness),
      last_active_(num_workers, -1) {
  members_.reserve(num_workers);
}

void ActiveSet::begin(std::int64_t t) {
  t_ = t;
  members_.clear();
  overdue_missing_ = 0;
  for (std::size_t i = 0; i < last_active_.size(); ++i) overdue_missing_ += is_overdue(i) ? 1 : 0;
}

void ActiveSet::add(std::size_t worker) {
  if (is_overdue(worker)) --overdue_missing_;
  members_.push_back(worker);
}

std::span<const std::size_t> ActiveSet::finish() {
  std::sort(members_.begin(), members_.end());
  for (const std::size_t worker : members_) last_active_[worker] = t_;
  return members_;
}

void ActiveSet::drop(std::size_t worker) {
  // Outside of a collection nobody is missed, however long ago the worker was heard.
  if (overdue_missing_ > 0 && is_overdue(worker)) --overdue_missing_;
  is_dropped_[worker] = 1;
  const auto left = static_cast<std::size_t>(std::count(is_dropped_.begin(), is_dropped_.end(), 0));
  wanted_ = std::min(wanted_, left);
}

void ActiveSet::mark_all(std::int64_t t) { std::fill(last_active_.begin(), last_active_.end(), t); }

std::int64_t ActiveSet::longest_silence(std::int64_t t) const {
  std::int64_t earliest = t;
  for (std::size_t i = 0; i < last_active_.size(); ++i) {
    if (is_dropped_[i] == 0) earliest = std::min(earliest, last_active_[i]);
  }
  return t - earliest;
}

}  // namespace adbo::detail
