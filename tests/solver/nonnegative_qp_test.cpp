// The multipliers' quadratic program against enumeration of its active sets, and its optimality conditions
// where Gram matrices are ill-conditioned, rank-deficient, or of wildly different scales.
#include "methods/cuts/nonnegative_qp.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "adbo/random.h"

using adbo::RandomStream;
using adbo::detail::NonnegativeQp;

namespace {

using Vector = std::vector<double>;

struct Program {
  std::size_t size = 0;
  Vector gram, linear;
};

/// Q = B B' with B [size x rank], entries normal; row k times spread^(-k).
Program random_program(std::uint64_t seed, std::size_t size, std::size_t rank, double spread) {
  RandomStream random(seed, 0);
  Vector rows(size * rank);
  for (std::size_t k = 0; k < size; ++k) {
    for (std::size_t c = 0; c < rank; ++c)
      rows[k * rank + c] = random.normal() * std::pow(spread, -static_cast<double>(k));
  }
  Program program{.size = size, .gram = Vector(size * size), .linear = Vector(size)};
  for (std::size_t k = 0; k < size; ++k) {
    for (std::size_t l = 0; l < size; ++l) {
      for (std::size_t c = 0; c < rank; ++c)
        program.gram[k * size + l] += rows[k * rank + c] * rows[l * rank + c];
    }
    program.linear[k] = random.normal() * std::sqrt(program.gram[k * size + k]);
  }
  return program;
}

double objective(const Program& program, double regularization, const Vector& x) {
  double value = 0;
  for (std::size_t k = 0; k < program.size; ++k) {
    for (std::size_t l = 0; l < program.size; ++l)
      value += 0.5 * x[k] * program.gram[k * program.size + l] * x[l];
    value += 0.5 * regularization * program.gram[k * program.size + k] * x[k] * x[k];
    value -= program.linear[k] * x[k];
  }
  return value;
}

/// Gaussian elimination with pivoting, in the program's own scale.
Vector solve_on(const Program& program, double regularization, const std::vector<std::size_t>& set) {
  const std::size_t n = set.size();
  std::vector<std::vector<long double>> a(n, std::vector<long double>(n + 1));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) a[i][j] = program.gram[set[i] * program.size + set[j]];
    a[i][i] *= 1 + static_cast<long double>(regularization);
    a[i][n] = program.linear[set[i]];
  }
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t pivot = c;
    for (std::size_t r = c; r < n; ++r) {
      if (std::abs(a[r][c]) > std::abs(a[pivot][c])) pivot = r;
    }
    std::swap(a[c], a[pivot]);
    for (std::size_t r = 0; r < n; ++r) {
      if (r == c) continue;
      const long double factor = a[r][c] / a[c][c];
      for (std::size_t k = c; k <= n; ++k) a[r][k] -= factor * a[c][k];
    }
  }
  Vector x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<double>(a[i][n] / a[i][i]);
  return x;
}

/// The best of all active sets whose minimizer is nonnegative.
Vector enumerate(const Program& program, double regularization) {
  Vector best(program.size, 0.0);
  double best_value = 0;
  for (std::size_t mask = 1; mask < (std::size_t{1} << program.size); ++mask) {
    std::vector<std::size_t> set;
    for (std::size_t k = 0; k < program.size; ++k) {
      if ((mask >> k & 1) != 0) set.push_back(k);
    }
    const Vector part = solve_on(program, regularization, set);
    if (std::any_of(part.begin(), part.end(), [](double p) { return p < 0; })) continue;
    Vector x(program.size, 0.0);
    for (std::size_t i = 0; i < set.size(); ++i) x[set[i]] = part[i];
    const double value = objective(program, regularization, x);
    if (value < best_value) {
      best_value = value;
      best = x;
    }
  }
  return best;
}

void check_signs(const Vector& x) {
  for (const double entry : x) CHECK(entry >= 0);
}

}  // namespace

TEST_CASE("nonnegative QP: the minimizer that enumeration of the active sets finds") {
  constexpr double kRegularization = 1e-8;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const std::size_t size = 1 + seed % 8;
    const Program program = random_program(seed, size, size + 3, 1);
    NonnegativeQp qp(8, kRegularization);
    Vector x(size, 0.0);
    CAPTURE(seed);
    CHECK(qp.solve(program.gram, program.linear, x) <= NonnegativeQp::kTolerance);
    const Vector expected = enumerate(program, kRegularization);
    // The matrices' condition numbers stay below 1e4: 1e-10 of backward error is at most 1e-6 of the
    // solution.
    const double scale = 1 + *std::max_element(expected.begin(), expected.end());
    for (std::size_t k = 0; k < size; ++k) CHECK(std::abs(x[k] - expected[k]) <= 1e-6 * scale);
  }
}

TEST_CASE("nonnegative QP: rank-deficient and contradicting cuts keep a bounded minimizer") {
  constexpr double kRegularization = 1e-6;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const std::size_t size = 2 + seed % 6;
    const Program program = random_program(seed, size, 1 + seed % 2, 1);  // rank 1 or 2
    NonnegativeQp qp(8, kRegularization);
    Vector x(size, 0.0);
    CAPTURE(seed);
    CHECK(qp.solve(program.gram, program.linear, x) <= NonnegativeQp::kTolerance);
    check_signs(x);
    // The minimizer may be long (1 / regularization): its value is what must agree.
    const double expected = objective(program, kRegularization, enumerate(program, kRegularization));
    CHECK(std::abs(objective(program, kRegularization, x) - expected) <= 1e-7 * (1 + std::abs(expected)));
  }
}

TEST_CASE("nonnegative QP: 20 unknowns, any rank, scales over 38 orders of magnitude, warm starts") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    for (const double spread : {1.0, 10.0, 100.0}) {
      const std::size_t rank = 1 + seed % 25;
      Program program = random_program(seed, 20, rank, spread);
      NonnegativeQp qp(20, 1e-8);
      Vector x(20, 0.0);
      CAPTURE(seed);
      CAPTURE(spread);
      REQUIRE(qp.solve(program.gram, program.linear, x) <= NonnegativeQp::kTolerance);
      check_signs(x);
      // A start changes the way, not the end: the objective has one minimizer.
      Vector warm(20);
      RandomStream random(seed, 1);
      for (std::size_t k = 0; k < 20; ++k) warm[k] = std::abs(random.normal()) * x[19 - k];
      REQUIRE(qp.solve(program.gram, program.linear, warm) <= NonnegativeQp::kTolerance);
      const double cold_value = objective(program, 1e-8, x), warm_value = objective(program, 1e-8, warm);
      CHECK(std::abs(cold_value - warm_value) <= 1e-6 * (1e-300 + std::abs(cold_value)));
    }
  }
}

TEST_CASE("nonnegative QP: zero rows, no unknowns, and input that is not finite") {
  NonnegativeQp qp(3, 1e-8);
  Vector x{1, 1};
  CHECK(qp.solve(Vector{0, 0, 0, 2}, Vector{5, 2}, x) <= NonnegativeQp::kTolerance);
  CHECK(x[0] == 0);
  CHECK(x[1] == doctest::Approx(1).epsilon(1e-7));

  Vector none;
  CHECK(qp.solve({}, {}, none) == 0);

  Vector lost{1};
  CHECK_FALSE(qp.solve(Vector{std::nan("")}, Vector{1}, lost) > NonnegativeQp::kTolerance);  // stays zero
  CHECK(lost[0] == 0);
  Vector indefinite{1, 1};
  CHECK(qp.solve(Vector{1, 4, 4, 1}, Vector{1, 1}, indefinite) > NonnegativeQp::kTolerance);
}
