#pragma once
// How long an answer takes when the delay is injected rather than real.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "adbo/random.h"
#include "adbo/state_archive.h"

namespace adbo::detail {

/// exp(mu + sigma n) milliseconds, n standard normal; or no delay at all.
struct DelayDistribution {
  bool none = true;
  double mu = 0;
  double sigma = 0;
};
/// A median of exp(20) ms is five days. What is beyond is a slip of the pen, and draws would be cut.
inline constexpr double kLargestLogDelay = 20;

/// "none" | "lognormal:MU,SIGMA" with MU <= 20 and 0 <= SIGMA <= 20; nullopt for anything else.
[[nodiscard]] std::optional<DelayDistribution> parse_delay(std::string_view text);

/// The first `count` workers take `factor` times as long.
struct Stragglers {
  std::int64_t count = 0;
  double factor = 1;
};
/// "none" | "K:FACTOR" with K >= 0, finite FACTOR > 0; nullopt for anything else.
[[nodiscard]] std::optional<Stragglers> parse_stragglers(std::string_view text);

/// Longer draws are cut to this (three years): no clock arithmetic overflows, and nobody waits for it anyway.
inline constexpr double kLongestDelaySeconds = 1e8;

/// One independent stream per worker: what one worker draws does not depend on what the others do.
class DelayModel {
 public:
  DelayModel(const DelayDistribution& distribution, const Stragglers& stragglers, std::uint64_t seed,
             std::size_t num_workers);

  [[nodiscard]] bool none() const { return distribution_.none; }
  /// The next delay of this worker, in seconds; 0 without a distribution.
  [[nodiscard]] double draw_seconds(std::size_t worker);

  void persist(StateArchive& archive) { archive(streams_); }

 private:
  DelayDistribution distribution_;
  Stragglers stragglers_;
  std::vector<RandomStream> streams_;
};

}  // namespace adbo::detail
