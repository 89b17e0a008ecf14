#include "methods/stochastic/gradient_memory.h"

namespace adbo::detail {

GradientMemory::GradientMemory(std::size_t batches, std::size_t size)
    : size_(size), share_(1 / static_cast<double>(batches)), table_(batches * size), mean_(size) {}

std::span<double> GradientMemory::entry(std::size_t batch) {
  return std::span<double>(table_).subspan(batch * size_, size_);
}

void GradientMemory::remember(std::size_t batch, std::span<const double> estimate) {
  const std::span<double> last = entry(batch);
  for (std::size_t k = 0; k < estimate.size(); ++k) {
    mean_[k] += share_ * (estimate[k] - last[k]);
    last[k] = estimate[k];
  }
}

void GradientMemory::add_corrected(std::size_t batch, std::span<const double> estimate, double factor,
                                   std::span<double> out) {
  const std::span<double> last = entry(batch);
  for (std::size_t k = 0; k < estimate.size(); ++k) {
    const double change = estimate[k] - last[k];
    out[k] += factor * (change + mean_[k]);
    mean_[k] += share_ * change;
    last[k] = estimate[k];
  }
}

}  // namespace adbo::detail
