#pragma once
// The few dense vector operations that masters and workers share. Sums run in index order: the same bits
// every time.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace adbo::detail {

[[nodiscard]] inline double dot(std::span<const double> a, std::span<const double> b) {
  // Four partial sums in a fixed order let the compiler vectorize without reassociating.
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  std::size_t k = 0;
  for (; k + 4 <= a.size(); k += 4) {
    s0 += a[k] * b[k];
    s1 += a[k + 1] * b[k + 1];
    s2 += a[k + 2] * b[k + 2];
    s3 += a[k + 3] * b[k + 3];
  }
  for (; k < a.size(); ++k) s0 += a[k] * b[k];
  return (s0 + s1) + (s2 + s3);
}

[[nodiscard]] inline double squared_norm(std::span<const double> a) { return dot(a, a); }

/// y += factor x
inline void add_scaled(double factor, std::span<const double> x, std::span<double> y) {
  for (std::size_t k = 0; k < x.size(); ++k) y[k] += factor * x[k];
}

/// max_k |a_k|; 0 of nothing.
[[nodiscard]] inline double largest_entry(std::span<const double> a) {
  double largest = 0;
  for (const double entry : a) largest = std::max(largest, std::abs(entry));
  return largest;
}

/// max_k |a_k - b_k|
[[nodiscard]] inline double largest_difference(std::span<const double> a, std::span<const double> b) {
  double largest = 0;
  for (std::size_t k = 0; k < a.size(); ++k) largest = std::max(largest, std::abs(a[k] - b[k]));
  return largest;
}

/// An iterate beyond this is running away: no problem that double precision can solve has its solution there.
inline constexpr double kRunaway = 1e12;

/// Whether every entry is finite and within +-kRunaway.
[[nodiscard]] inline bool all_bounded(std::span<const double> values) {
  bool bounded = true;
  for (const double value : values) bounded &= value <= kRunaway && value >= -kRunaway;  // false for NaN
  return bounded;
}

[[nodiscard]] inline bool all_finite(std::span<const double> values) {
  // x * 0 is 0 for every finite x and NaN otherwise: one branch-free pass.
  double sum = 0;
  for (const double value : values) sum += value * 0;
  return sum == 0;
}

}  // namespace adbo::detail
