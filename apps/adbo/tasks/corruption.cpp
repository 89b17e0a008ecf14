#include "tasks/corruption.h"

#include <cmath>

#include "tasks/random_streams.h"

namespace adbo::app {
namespace {

/// A label uniform among the classes other than `label`.
std::int32_t other_class(std::int32_t label, int classes, RandomStream& stream) {
  const auto shift = 1 + static_cast<std::int32_t>(stream.below(static_cast<std::uint64_t>(classes - 1)));
  return (label + shift) % classes;
}

/// Marks and changes one row.
void corrupt_row(Corruption& result, std::size_t row, int classes, RandomStream& stream) {
  result.selected[row] = 1;
  result.labels[row] = other_class(result.labels[row], classes, stream);
}

void corrupt_every_row(Corruption& result, int classes, double rate, RandomStream stream) {
  for (std::size_t row = 0; row < result.labels.size(); ++row) {
    if (stream.uniform() < rate) corrupt_row(result, row, classes, stream);
  }
}

void corrupt_exact_count(Corruption& result, std::size_t begin, std::size_t size, int classes, double rate,
                         RandomStream stream) {
  const auto count = static_cast<std::size_t>(std::floor(rate * static_cast<double>(size)));
  const std::vector<std::size_t> order = stream.permutation(size);
  for (std::size_t k = 0; k < count; ++k) corrupt_row(result, begin + order[k], classes, stream);
}

}  // namespace

Corruption corrupt_labels(std::span<const std::int32_t> labels, std::span<const std::size_t> shard_sizes,
                          int classes, double rate, CorruptRule rule, std::uint64_t seed) {
  Corruption result;
  result.labels.assign(labels.begin(), labels.end());
  result.selected.assign(labels.size(), 0);
  result.changed.assign(labels.size(), 0);
  if (rate == 0) return result;
  if (rule == CorruptRule::kOtherClass) {
    corrupt_every_row(result, classes, rate, random_stream(seed, DrawPurpose::kCorruption));
  } else {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < shard_sizes.size(); ++i) {
      corrupt_exact_count(result, begin, shard_sizes[i], classes, rate,
                          random_stream(seed, DrawPurpose::kCorruption, 1 + i));
      begin += shard_sizes[i];
    }
  }
  for (std::size_t row = 0; row < labels.size(); ++row) {
    result.changed[row] = result.labels[row] != labels[row] ? 1 : 0;
  }
  return result;
}

}  // namespace adbo::app
