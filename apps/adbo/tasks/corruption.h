#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "settings/task_settings.h"

namespace adbo::app {

/// Labels made wrong for an experiment, and the record of it. All [rows].
struct Corruption {
  std::vector<std::int32_t> labels;
  std::vector<std::uint8_t> selected;  ///< picked for corruption
  std::vector<std::uint8_t> changed;   ///< the label really differs from the one given
};

/// kOtherClass: every row independently with probability `rate`, to a label uniform among the other classes.
/// kCountShift: in every shard exactly floor(rate size) rows, picked by a permutation; label + s mod classes,
/// s uniform in 1 .. classes - 1. `shard_sizes` sums to the number of labels; classes >= 2; rate in [0, 1].
[[nodiscard]] Corruption corrupt_labels(std::span<const std::int32_t> labels,
                                        std::span<const std::size_t> shard_sizes, int classes, double rate,
                                        CorruptRule rule, std::uint64_t seed);

}  // namespace adbo::app
