#include "tasks/holdout.h"

#include <algorithm>
#include <cmath>

#include "tasks/random_streams.h"

namespace adbo::app {
namespace {

/// Moves the rows to hold out from `validation` to the end of `held_out`.
void hold_out_of_shard(std::vector<std::size_t>& validation, const std::vector<std::int32_t>& labels,
                       double fraction, double phase, std::vector<std::size_t>& held_out) {
  std::vector<std::size_t> by_class = validation;
  std::stable_sort(by_class.begin(), by_class.end(),
                   [&](std::size_t a, std::size_t b) { return labels[a] < labels[b]; });
  std::vector<std::size_t> kept, held;
  const auto ticks = [&](std::size_t k) { return std::floor(phase + fraction * static_cast<double>(k)); };
  for (std::size_t k = 0; k < by_class.size(); ++k) {
    const bool is_held = ticks(k + 1) > ticks(k) && held.size() + 1 < by_class.size();
    (is_held ? held : kept).push_back(by_class[k]);
  }
  std::sort(kept.begin(), kept.end());
  std::sort(held.begin(), held.end());
  validation = std::move(kept);
  held_out.insert(held_out.end(), held.begin(), held.end());
}

}  // namespace

HeldOutSplit hold_out(const std::vector<ShardRows>& shards, const std::vector<std::int32_t>& labels,
                      double fraction, std::uint64_t seed) {
  HeldOutSplit split{shards, {}};
  if (fraction == 0) return split;
  for (std::size_t i = 0; i < split.shards.size(); ++i) {
    const double phase = random_stream(seed, DrawPurpose::kHoldout, i).uniform();
    hold_out_of_shard(split.shards[i].validation, labels, fraction, phase, split.held_out);
  }
  return split;
}

}  // namespace adbo::app
