#include "methods/synchronous/batch_sampler.h"

#include <algorithm>

#include "adbo/random.h"

namespace adbo::detail {
namespace {

/// Apart from the streams that the same seed has elsewhere.
constexpr std::uint64_t kFirstStream = 0x6261746368000000;

/// Batches of at most `batch_rows` samples each.
std::size_t batch_count(std::size_t samples, std::int64_t batch_rows) {
  if (batch_rows == 0 || samples == 0) return 1;
  const auto rows = static_cast<std::size_t>(batch_rows);
  return (samples - 1) / rows + 1;
}

}  // namespace

BatchSampler::BatchSampler(const Problem& problem, std::uint64_t seed, std::int64_t batch_rows)
    : upper_(problem.num_workers()), lower_(problem.num_workers()) {
  for (std::size_t i = 0; i < problem.num_workers(); ++i) {
    const SampleCounts samples = problem.worker(i).sample_counts();
    upper_[i] = {.key = RandomStream(seed, kFirstStream + 2 * i).next(),
                 .count = batch_count(samples.upper, batch_rows)};
    lower_[i] = {.key = RandomStream(seed, kFirstStream + 2 * i + 1).next(),
                 .count = batch_count(samples.lower, batch_rows)};
  }
}

Batch BatchSampler::Level::at(std::uint64_t draw, bool in_order) const {
  if (count == 1) return {};
  if (in_order) return {.index = static_cast<std::size_t>(draw % count), .count = count};
  return {.index = static_cast<std::size_t>(RandomStream(key, draw).below(count)), .count = count};
}

bool BatchSampler::is_exact() const {
  const auto is_whole = [](const Level& level) { return level.count == 1; };
  return std::all_of(upper_.begin(), upper_.end(), is_whole) &&
         std::all_of(lower_.begin(), lower_.end(), is_whole);
}

}  // namespace adbo::detail
