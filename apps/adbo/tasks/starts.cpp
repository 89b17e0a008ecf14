#include "tasks/starts.h"

#include <cmath>

#include "tasks/random_streams.h"

namespace adbo::app {
namespace {

std::vector<double> normal_draw(std::size_t size, double deviation, RandomStream stream) {
  std::vector<double> draw(size);
  for (double& value : draw) value = deviation * stream.normal();
  return draw;
}

}  // namespace

StartPoint code_clean_start(std::size_t features, int classes, std::size_t workers, std::uint64_t seed) {
  const std::size_t lower_dim = features * static_cast<std::size_t>(classes);
  const double deviation = std::sqrt(2.0 / static_cast<double>(features));
  StartPoint start;
  start.lower = normal_draw(lower_dim, deviation, random_stream(seed, DrawPurpose::kStart));
  for (std::size_t i = 0; i < workers; ++i) {
    start.lower_local.push_back(
        normal_draw(lower_dim, deviation, random_stream(seed, DrawPurpose::kStart, 1 + i)));
  }
  return start;
}

StartPoint code_tune_start(std::size_t upper_dim, std::size_t lower_dim, int classes, std::uint64_t seed) {
  StartPoint start;
  start.lower = normal_draw(lower_dim, std::sqrt(2.0 / classes), random_stream(seed, DrawPurpose::kStart));
  start.upper = normal_draw(upper_dim, 1, random_stream(seed, DrawPurpose::kStart, 1));
  start.consensus_dual = start.upper;
  return start;
}

}  // namespace adbo::app
