#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <span>

namespace adbo::detail {

/// out [m] += factor times a block [b x b] on each of the m / b pieces of `vector` [m].
inline void add_block_product(double factor, std::span<const double> block, std::size_t b,
                              std::span<const double> vector, std::span<double> out) {
  using Matrix = Eigen::MatrixXd;
  const auto rows = static_cast<Eigen::Index>(b);
  const auto pieces = static_cast<Eigen::Index>(vector.size() / b);
  const Eigen::Map<const Matrix> matrix(block.data(), rows, rows), in(vector.data(), rows, pieces);
  Eigen::Map<Matrix> result(out.data(), rows, pieces);
  if (pieces == 1) {
    result.col(0).noalias() += factor * (matrix * in.col(0));
  } else {
    result.noalias() += factor * (matrix * in);
  }
}

/// The largest of entries k, k + b, k + 2 b, ...
[[nodiscard]] inline double largest_over_pieces(std::span<const double> vector, std::size_t b,
                                                std::size_t k) {
  double largest = vector[k];
  for (std::size_t j = k + b; j < vector.size(); j += b) largest = std::max(largest, vector[j]);
  return largest;
}

}  // namespace adbo::detail
