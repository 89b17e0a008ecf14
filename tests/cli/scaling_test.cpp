#include "tasks/scaling.h"

#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>

#include "support/exit_code.h"

using adbo::app::apply_scaling;
using adbo::app::learn_scaling;
using adbo::app::ScaleRule;
using adbo::app::Scaling;
using adbo::kernels::DenseRows;
using adbo::kernels::Rows;
using adbo::kernels::SparseRows;

namespace {

DenseRows dense(std::initializer_list<std::initializer_list<float>> values) {
  DenseRows rows(values.size(), values.begin()->size());
  std::size_t r = 0;
  for (const auto& row : values) {
    std::copy(row.begin(), row.end(), rows.mutable_row(r++));
  }
  return rows;
}

/// Column 0 holds 3 and 4, column 2 holds 5; three rows, three columns.
SparseRows sparse() { return {3, {0, 1, 1, 3}, {0, 0, 2}, {3, 4, 5}}; }

double at(const Rows& rows, std::size_t r, std::size_t c) {
  return static_cast<double>(std::get<DenseRows>(rows).row(r)[c]);
}

constexpr double kFloat = 1e-6;  // features are float32

}  // namespace

TEST_CASE("scaling: auto means global moments for pictures and columns for tables") {
  const Rows rows = dense({{0, 10}, {2, 30}});
  CHECK(learn_scaling(rows, ScaleRule::kAuto, true).rule == ScaleRule::kMeanSd);
  CHECK(learn_scaling(rows, ScaleRule::kAuto, false).rule == ScaleRule::kStandardize);
}

TEST_CASE("scaling: mean-sd leaves mean 0 and deviation 1 overall") {
  Rows rows = dense({{0, 4}, {8, 4}});  // mean 4, variance (16 + 0 + 16 + 0) / 4 = 8
  apply_scaling(rows, learn_scaling(rows, ScaleRule::kMeanSd, true));
  CHECK(at(rows, 0, 0) == doctest::Approx(-4 / std::sqrt(8.0)).epsilon(kFloat));
  CHECK(at(rows, 1, 0) == doctest::Approx(4 / std::sqrt(8.0)).epsilon(kFloat));
  CHECK(at(rows, 0, 1) == 0);
}

TEST_CASE("scaling: standardize works column by column; a constant column becomes zero") {
  Rows rows = dense({{1, 0.1F, 100}, {3, 0.1F, 300}});
  apply_scaling(rows, learn_scaling(rows, ScaleRule::kStandardize, false));
  for (const std::size_t c : {std::size_t{0}, std::size_t{2}}) {
    CHECK(at(rows, 0, c) == doctest::Approx(-1).epsilon(kFloat));
    CHECK(at(rows, 1, c) == doctest::Approx(1).epsilon(kFloat));
  }
  CHECK(std::abs(at(rows, 0, 1)) < kFloat);
}

TEST_CASE("scaling: a test file gets the numbers of the training file") {
  const Rows train = dense({{1, 0}, {3, 8}});
  Rows test = dense({{5, 4}});
  apply_scaling(test, learn_scaling(train, ScaleRule::kStandardize, false));
  CHECK(at(test, 0, 0) == doctest::Approx(3).epsilon(kFloat));
  CHECK(at(test, 0, 1) == 0);
}

TEST_CASE("scaling: unit divides by the largest magnitude and keeps zeros") {
  Rows rows = dense({{-4, 0, 0}, {2, 0, 5}});
  apply_scaling(rows, learn_scaling(rows, ScaleRule::kUnit, false));
  CHECK(at(rows, 0, 0) == -1);
  CHECK(at(rows, 1, 0) == 0.5);
  CHECK(at(rows, 0, 1) == 0);
  CHECK(at(rows, 1, 2) == 1);
}

TEST_CASE("scaling: a sparse table keeps its zeros") {
  Rows rows = sparse();
  apply_scaling(rows, learn_scaling(rows, ScaleRule::kAuto, false));
  const auto& scaled = std::get<SparseRows>(rows);
  CHECK(scaled.nonzeros() == 3);
  const double root_mean_square = std::sqrt((9.0 + 16.0) / 3.0);
  CHECK(static_cast<double>(scaled.value[0]) == doctest::Approx(3 / root_mean_square).epsilon(kFloat));
  CHECK(static_cast<double>(scaled.value[1]) == doctest::Approx(4 / root_mean_square).epsilon(kFloat));
  CHECK_THROWS_AS((void)learn_scaling(Rows(sparse()), ScaleRule::kMeanSd, false), adbo::app::UsageError);
}

TEST_CASE("scaling: none and the published MNIST numbers") {
  Rows rows = dense({{0, 256}});
  apply_scaling(rows, learn_scaling(rows, ScaleRule::kNone, true));
  CHECK(at(rows, 0, 1) == 256);
  apply_scaling(rows, learn_scaling(rows, ScaleRule::kMnistCode, true));
  CHECK(at(rows, 0, 0) == doctest::Approx(-0.1307 / 0.3081).epsilon(kFloat));
  CHECK(at(rows, 0, 1) == doctest::Approx((1 - 0.1307) / 0.3081).epsilon(kFloat));
}
