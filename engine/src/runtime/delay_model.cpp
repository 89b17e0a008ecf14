#include "runtime/delay_model.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace adbo::detail {
namespace {

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if constexpr (std::is_floating_point_v<Number>) {
    if (!std::isfinite(number)) return std::nullopt;
  }
  return number;
}

}  // namespace

std::optional<DelayDistribution> parse_delay(std::string_view text) {
  if (text == "none") return DelayDistribution{};
  constexpr std::string_view kPrefix = "lognormal:";
  if (!text.starts_with(kPrefix)) return std::nullopt;
  text.remove_prefix(kPrefix.size());
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos) return std::nullopt;
  const auto mu = parse_number<double>(text.substr(0, comma));
  const auto sigma = parse_number<double>(text.substr(comma + 1));
  if (!mu || !sigma || *sigma < 0) return std::nullopt;
  if (*mu > kLargestLogDelay || *sigma > kLargestLogDelay) return std::nullopt;
  return DelayDistribution{.none = false, .mu = *mu, .sigma = *sigma};
}

std::optional<Stragglers> parse_stragglers(std::string_view text) {
  if (text == "none") return Stragglers{};
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto count = parse_number<std::int64_t>(text.substr(0, colon));
  const auto factor = parse_number<double>(text.substr(colon + 1));
  if (!count || !factor || *count < 0 || *factor <= 0) return std::nullopt;
  return Stragglers{.count = *count, .factor = *factor};
}

DelayModel::DelayModel(const DelayDistribution& distribution, const Stragglers& stragglers,
                       std::uint64_t seed, std::size_t num_workers)
    : distribution_(distribution), stragglers_(stragglers) {
  streams_.reserve(num_workers);
  for (std::size_t i = 0; i < num_workers; ++i) streams_.emplace_back(seed, i);
}

double DelayModel::draw_seconds(std::size_t worker) {
  if (distribution_.none) return 0;
  const double milliseconds = std::exp(distribution_.mu + distribution_.sigma * streams_[worker].normal());
  const bool straggles = static_cast<std::int64_t>(worker) < stragglers_.count;
  return std::min(kLongestDelaySeconds, milliseconds * 1e-3 * (straggles ? stragglers_.factor : 1.0));
}

}  // namespace adbo::detail
