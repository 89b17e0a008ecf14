#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "adbo/state_archive.h"

namespace adbo::detail {

/// The memory that SAGA reduces the variance of a worker's estimates with: for every batch the estimate it
/// gave last, and their mean.
class GradientMemory {
 public:
  /// `batches` x `size` numbers, all zero.
  GradientMemory(std::size_t batches, std::size_t size);

  /// Remembers what a batch said. estimate [size].
  void remember(std::size_t batch, std::span<const double> estimate);
  /// out += factor (estimate - what the batch said last + mean of what all said last); then remembers it.
  /// out [size].
  void add_corrected(std::size_t batch, std::span<const double> estimate, double factor,
                     std::span<double> out);
  void persist(StateArchive& archive) { archive(table_, mean_); }

 private:
  [[nodiscard]] std::span<double> entry(std::size_t batch);

  std::size_t size_;
  double share_;               ///< of a batch in the mean
  std::vector<double> table_;  ///< [batches][size]
  std::vector<double> mean_;   ///< [size]
};

}  // namespace adbo::detail
