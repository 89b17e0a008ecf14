#pragma once
// Small problems, each twice: as the product poses it, and as plain functions of the same numbers for the
// reference.

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "adbo/problem.h"
#include "support/reference/reference_problem.h"

namespace adbo::conformance {

struct Instance {
  Problem product;
  reference::Problem plain;
};

/// Standard normal numbers that mean the same on every platform: the engine of <random> is specified to the
/// bit, its distributions are not.
class Normals {
 public:
  explicit Normals(std::uint64_t seed) : engine_(seed) {}
  double next();
  [[nodiscard]] reference::Vector vector(std::size_t size, double scale = 1);
  [[nodiscard]] reference::Matrix matrix(std::size_t rows, std::size_t cols, double scale = 1);
  std::uint64_t word() { return engine_(); }

 private:
  std::mt19937_64 engine_;
};

struct QuadraticShape {
  std::size_t upper_dim = 4;
  std::size_t lower_dim = 5;
  std::size_t num_workers = 6;
  std::size_t support_size = 0;  ///< coordinates of x per worker, spread evenly, overlapping; 0: all
  bool upper_uses_x = true;
  std::size_t workers_without_x = 0;  ///< the last so many G_i do not depend on x
  std::uint64_t seed = 1;
};
/// Random symmetric positive definite H_i with eigenvalues in about [0.5, 3.5].
[[nodiscard]] std::vector<reference::QuadraticData> quadratic_data(const QuadraticShape& shape);
[[nodiscard]] Instance quadratic_instance(const QuadraticShape& shape);

struct TableShape {
  std::size_t features = 4;
  std::size_t num_workers = 4;
  int classes = 3;             ///< of hyper-cleaning
  std::size_t train_rows = 6;  ///< of the first worker; each next one has one more
  std::size_t validation_rows = 5;
  std::uint64_t seed = 1;
};
/// Coefficients of two-class logistic regression, exp parametrization.
[[nodiscard]] Instance logistic_tuning_instance(const TableShape& shape);
/// Hyper-cleaning with softmax regression.
[[nodiscard]] Instance hyper_cleaning_instance(const TableShape& shape);

}  // namespace adbo::conformance
