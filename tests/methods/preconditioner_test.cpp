#include "methods/running_estimates/preconditioner.h"

#include <doctest/doctest.h>

#include <memory>
#include <vector>

using namespace adbo;
using adbo::detail::make_preconditioner;

namespace {

/// Says only how large its curvature blocks are.
class Shape final : public WorkerObjective {
 public:
  explicit Shape(std::size_t block, std::size_t diagonal = 0) : block_(block), diagonal_(diagonal) {}
  double upper(std::span<const double>, std::span<const double>, std::span<double>,
               std::span<double>) override {
    return 0;
  }
  double lower(std::span<const double>, std::span<const double>, std::span<double>) override { return 0; }
  [[nodiscard]] std::size_t lower_curvature_size() const override { return block_; }
  [[nodiscard]] std::size_t lower_curvature_diagonal_size() const override { return diagonal_; }

 private:
  std::size_t block_, diagonal_;
};

Problem problem_with(std::size_t lower_dim, const std::vector<std::size_t>& blocks) {
  Problem problem(1, lower_dim);
  for (const std::size_t block : blocks) problem.add_worker(std::make_unique<Shape>(block));
  return problem;
}

}  // namespace

TEST_CASE("preconditioner: solves with the mean block on every piece, damped or not") {
  const Problem problem = problem_with(4, {2, 2});
  const auto p = make_preconditioner(problem);
  CHECK_FALSE(p->is_known());
  p->set_curvature(0, std::vector<double>{4, 2, 2, 6});
  p->set_curvature(1, std::vector<double>{2, 0, 0, 2});
  p->refresh(1);
  CHECK(p->is_known());
  CHECK(p->mean_curvature() == doctest::Approx(3.5));
  // The mean is [3 1; 1 4]; the floor of 1e-6 of its mean eigenvalue is within the tolerance.
  std::vector<double> plain{4, 5, 3, 1}, damped{5, 6, 4, 1};
  p->solve(plain);
  p->solve_damped(damped);
  for (const auto& [solution, expected] : {std::pair{plain, std::vector<double>{1, 1, 1, 0}},
                                           std::pair{damped, std::vector<double>{1, 1, 1, 0}}}) {
    for (std::size_t j = 0; j < 4; ++j) CHECK(solution[j] == doctest::Approx(expected[j]).epsilon(1e-5));
  }
}

TEST_CASE("preconditioner: the common curvature is added, and the mean block known without it") {
  const Problem problem = problem_with(4, {2, 2});
  const auto p = make_preconditioner(problem);
  p->set_curvature(0, std::vector<double>{2, 1, 1, 3});
  p->set_curvature(1, std::vector<double>{2, 1, 1, 3});
  p->set_common_curvature(std::vector<double>{1, 0, 0, 1});  // (1, 1) at most
  p->refresh(0);
  CHECK(p->mean_curvature() == doctest::Approx(3.5));
  std::vector<double> vector{4, 5, 3, 1};
  p->solve(vector);
  for (const auto& [k, expected] : {std::pair{0, 1.0}, {1, 1.0}, {2, 1.0}, {3, 0.0}}) {
    CHECK(vector[static_cast<std::size_t>(k)] == doctest::Approx(expected).epsilon(1e-5));
  }
  std::vector<double> sum{1, 1, 1, 1};
  p->add_mean_block_product(std::vector<double>{1, 0, 0, 1}, sum);
  CHECK(sum == std::vector<double>{3, 2, 2, 4});
  p->set_common_curvature(std::vector<double>{0, 0, 0, 0});
  p->refresh(0);
  CHECK(p->mean_curvature() == doctest::Approx(2.5));
}

TEST_CASE(
    "preconditioner: a new damping or block takes effect; until both workers are heard the one counts "
    "alone") {
  const Problem problem = problem_with(1, {1, 1});
  const auto p = make_preconditioner(problem);
  const auto solved = [&p](double value, double damping) {
    p->refresh(damping);
    std::vector<double> vector{value};
    p->solve_damped(vector);
    return vector[0];
  };
  p->set_curvature(0, std::vector<double>{2});
  CHECK(solved(6, 1) == doctest::Approx(2).epsilon(1e-5));
  CHECK(solved(6, 4) == doctest::Approx(1).epsilon(1e-5));
  CHECK(solved(6, 0) == doctest::Approx(3).epsilon(1e-5));
  p->set_curvature(1, std::vector<double>{4});
  CHECK(solved(6, 0) == doctest::Approx(2).epsilon(1e-5));
}

TEST_CASE(
    "preconditioner: without common blocks, twice the largest curvature that products have shown of late") {
  for (const std::vector<std::size_t>& blocks : {std::vector<std::size_t>{0, 0}, {2, 1}, {3, 3}}) {
    const Problem problem = problem_with(4, blocks);
    const auto p = make_preconditioner(problem);
    std::vector<double> vector{8, 8, 8, 8};
    p->solve(vector);
    CHECK(vector[0] == 8);  // nothing is known yet
    p->see_product(std::vector<double>{1, 0, 0, 0}, std::vector<double>{0, 2, 0, 0});
    p->see_product(std::vector<double>{0, 1, 0, 0}, std::vector<double>{0, 1, 0, 0});
    p->see_product(std::vector<double>{0, 0, 0, 0}, std::vector<double>{0, 0, 0, 0});
    p->refresh(4);
    // 2 * 2, forgotten by a twentieth with the smaller product; nothing is learned of u = 0.
    p->solve(vector);
    CHECK(vector[3] == doctest::Approx(8 / 3.8).epsilon(1e-14));
    p->solve_damped(vector);
    CHECK(vector[3] == doctest::Approx(8 / 3.8 / 7.8).epsilon(1e-14));
    for (int k = 0; k < 200; ++k)
      p->see_product(std::vector<double>{0, 1, 0, 0}, std::vector<double>{0, 1, 0, 0});
    CHECK(p->largest_curvature() == 2);
  }
}

TEST_CASE("preconditioner: diagonals where blocks are too large, scaled by what products have shown") {
  Problem problem(1, 4);
  for (int i = 0; i < 2; ++i) problem.add_worker(std::make_unique<Shape>(0, 2));
  const auto p = make_preconditioner(problem);
  p->set_curvature(0, std::vector<double>{1, 6});
  p->set_curvature(1, std::vector<double>{1, 2});  // D = (1, 4) on both pieces
  p->refresh(0);
  CHECK_FALSE(p->is_known());
  // D^-1/2 H u of u = e_1 is (0, 3 / 2), D^1/2 u is 1: s = 3.
  p->see_product(std::vector<double>{1, 0, 0, 0}, std::vector<double>{0, 3, 0, 0});
  p->refresh(6);
  // The floor of 1e-6 of the mean is within the tolerance.
  CHECK(p->mean_curvature() == doctest::Approx(3 * 2.5).epsilon(1e-5));
  CHECK(p->largest_curvature() == doctest::Approx(3 * 4).epsilon(1e-5));
  std::vector<double> vector{3, 12, 6, 24};
  p->solve(vector);
  for (const auto& [k, expected] : {std::pair{0, 1.0}, {1, 1.0}, {2, 2.0}, {3, 2.0}}) {
    CHECK(vector[static_cast<std::size_t>(k)] == doctest::Approx(expected).epsilon(1e-5));
  }
  std::vector<double> damped{9, 18, 18, 36};
  p->solve_damped(damped);
  for (const auto& [k, expected] : {std::pair{0, 1.0}, {1, 1.0}, {2, 2.0}, {3, 2.0}}) {
    CHECK(damped[static_cast<std::size_t>(k)] == doctest::Approx(expected).epsilon(1e-5));
  }
}
