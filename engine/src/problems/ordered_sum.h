#pragma once
// Sums of per-part vectors: computed in parallel, added in the order of the parts, hence the same bits for
// any number of threads.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "runtime/executor.h"

namespace adbo::detail {

/// An executor for `count` parts: as many threads as asked for (0: all processors) and no more than there are
/// parts. Plain threads, so that a measure neither depends on nor changes what a process has told TBB.
inline std::unique_ptr<Executor> make_measure_executor(std::int64_t threads, std::size_t count) {
  const std::int64_t wanted = threads > 0 ? threads : available_processors();
  const std::int64_t used = std::clamp<std::int64_t>(static_cast<std::int64_t>(count), 1, wanted);
  return make_executor(used == 1 ? ExecutorKind::kInline : ExecutorKind::kThreads, static_cast<int>(used));
}

class OrderedSum {
 public:
  /// Overwrites `out` [dimension] with the part's vector and returns the part's value. Called for several
  /// parts at once, never for one part twice at once.
  using Part = std::function<double(std::size_t part, std::span<double> out)>;

  OrderedSum(Executor& executor, std::size_t parts, std::size_t dimension)
      : executor_(executor),
        parts_(parts),
        dimension_(dimension),
        batch_(batch_size(executor, parts, dimension)),
        vector_(batch_ * dimension),
        value_(batch_) {}

  /// sum [dimension] = the sum of the parts' vectors; returns the sum of their values.
  double operator()(const Part& part, std::span<double> sum) {
    std::fill(sum.begin(), sum.end(), 0.0);
    double total = 0;
    for (std::size_t begin = 0; begin < parts_; begin += batch_) {
      const std::size_t count = std::min(batch_, parts_ - begin);
      parallel_for(executor_, count, [&](std::size_t k) { value_[k] = part(begin + k, vector(k)); });
      for (std::size_t k = 0; k < count; ++k) {
        total += value_[k];
        const std::span<const double> addend = vector(k);
        for (std::size_t j = 0; j < dimension_; ++j) sum[j] += addend[j];
      }
    }
    return total;
  }

 private:
  static constexpr std::size_t kBufferBytes = std::size_t{256} << 20;

  /// All parts at once, unless their vectors fill more than kBufferBytes: then as many as fit, and at least
  /// one per thread. The order of the additions, and with it every bit of the sum, does not depend on it.
  static std::size_t batch_size(const Executor& executor, std::size_t parts, std::size_t dimension) {
    const std::size_t fitting = kBufferBytes / (sizeof(double) * std::max<std::size_t>(dimension, 1));
    const std::size_t threads = static_cast<std::size_t>(executor.threads());
    return std::clamp<std::size_t>(std::max(fitting, threads), 1, std::max<std::size_t>(parts, 1));
  }

  std::span<double> vector(std::size_t k) {
    return std::span<double>(vector_).subspan(k * dimension_, dimension_);
  }

  Executor& executor_;
  std::size_t parts_, dimension_, batch_;
  std::vector<double> vector_;  // [batch x dimension]
  std::vector<double> value_;   // [batch]
};

}  // namespace adbo::detail
