#include "methods/cuts/cut_pool.h"

namespace adbo::detail {

Cut& CutPool::take() {
  if (free_.empty()) {
    all_.push_back(std::make_unique<Cut>(upper_dim_, lower_dim_, num_workers_));
    free_.reserve(all_.size());
    free_.push_back(all_.back().get());
  }
  Cut& cut = *free_.back();
  free_.pop_back();
  cut.pins = 1;
  return cut;
}

void CutPool::unpin(Cut& cut) {
  if (--cut.pins == 0) free_.push_back(&cut);
}

void CutPool::release(Snapshot& snapshot) {
  for (Cut* cut : snapshot.cuts) unpin(*cut);
  snapshot.cuts.clear();
}

}  // namespace adbo::detail
