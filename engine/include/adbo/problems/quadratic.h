#pragma once
// A quadratic bilevel family with a closed-form solution, for tests and benchmarks.

#include <cstdint>
#include <vector>

#include "adbo/problem.h"

namespace adbo {

struct QuadraticSettings {
  std::size_t upper_dim = 4;    ///< n
  std::size_t lower_dim = 6;    ///< m
  std::size_t num_workers = 4;  ///< N
  double condition = 10;        ///< of every worker's lower Hessian, >= 1
  double heterogeneity = 1;     ///< in [0, 1]; 0: all workers equal; 1: independent draws
  bool upper_uses_x = true;     ///< G_i carries a term in x
  /// Coordinates of x per worker; 0: all. Supports are spread evenly over [0, n) and may overlap.
  std::size_t support_size = 0;
  std::uint64_t seed = 1;
  std::size_t samples = 0;     ///< of every worker, for mini-batches; 0: none
  double sample_noise = 0.25;  ///< how far samples differ, in [0, 1)
};

/// g_i(x, y) = 1/2 y'H_i y - y'(B_i x + d_i),  G_i(x, y) = 1/2 ||y - t_i||^2 + (upper_uses_x) rho/2 ||x -
/// s_i||^2.
///
/// The eigenvalues of H_i are spaced geometrically over [1/condition, 1], their eigenvectors are random; B_i
/// [m x support], d_i, t_i and s_i are standard normal; rho = 0.1. With heterogeneity h, every draw is sqrt(1
/// - h^2) times one common to all workers plus h times one of the worker's own.
///
/// With samples, both are means over samples s that differ by `sample_noise` nu:
///   g_is = (1 + nu a_s)/2 y'H_i y - y'((1 + nu b_s) B_i x + d_i + nu e_s),  a_s, b_s uniform in [-1, 1],
///   G_is = G_i + nu (y'f_s + (upper_uses_x) x'h_s),  e_s, f_s, h_s standard normal.
/// Each kind of draw sums to exactly zero over a worker's samples: the problem is the same with and without
/// them.
struct QuadraticInstance {
  Problem problem;
  std::vector<double> upper_solution;  ///< [n], the unique minimizer of sum_i G_i(x, y*(x))
  std::vector<double> lower_solution;  ///< [m], y* there
  double value = 0;                    ///< (1/N) sum_i G_i there
};
/// The same instance for the same settings. Throws std::invalid_argument when a setting is out of its range,
/// when the supports cannot cover [0, n), or when the solution would not be unique (n > m without a term in
/// x).
[[nodiscard]] QuadraticInstance make_quadratic(const QuadraticSettings& settings);

/// d/dx (1/N) sum_i G_i(x, y*(x)), [n], for an instance made by make_quadratic with the same settings.
[[nodiscard]] std::vector<double> quadratic_hypergradient(const QuadraticSettings& settings,
                                                          const std::vector<double>& upper);

}  // namespace adbo
