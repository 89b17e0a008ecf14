#include "adbo/kernels/logistic.h"

#include <doctest/doctest.h>

#include <limits>
#include <numeric>
#include <stdexcept>

#include "adbo/kernels/softmax.h"
#include "loss_data.h"

using namespace adbo::test;
using adbo::kernels::LogisticLoss;
using adbo::kernels::SoftmaxLoss;

namespace {

struct Instance {
  Instance(std::size_t rows, std::size_t cols, std::uint64_t seed, double margin_size = 1) {
    Random random(seed);
    x = random_rows(random, rows, cols, 0.4);
    for (std::size_t r = 0; r < rows; ++r) labels.push_back(random.below(2) == 0 ? -1 : 1);
    w = normals(random, cols, margin_size / std::sqrt(static_cast<double>(cols)));
    u = normals(random, cols);
    for (std::size_t r = 0; r < rows; ++r) weights.push_back(r % 7 == 3 ? 0 : random.uniform());
  }

  [[nodiscard]] Products reference(std::span<const double> row_weights, double scale) const {
    return logistic_reference(x, labels, w, row_weights, scale, u);
  }
  [[nodiscard]] LogisticLoss dense() const { return {share(x), labels}; }
  [[nodiscard]] LogisticLoss sparse() const { return {share(to_sparse(x)), labels}; }

  DenseRows x;
  std::vector<std::int32_t> labels;
  Vector w, u, weights;
};

void check_all(LogisticLoss& loss, const Instance& in, std::span<const double> weights, double scale,
               const Products& expected, double tolerance) {
  const std::size_t rows = in.x.rows();
  Vector gradient(loss.dimension(), 9e9), hessian(loss.dimension(), 9e9), derivatives(rows, 9e9),
      losses(rows);
  CHECK(relative_error(loss.value(in.w, weights, scale), expected.value) <= tolerance);
  CHECK(relative_error(loss.gradient(in.w, weights, scale, gradient), expected.value) <= tolerance);
  CHECK(relative_error(gradient, expected.gradient) <= tolerance);
  loss.hessian_product(in.w, weights, scale, in.u, hessian);
  CHECK(relative_error(hessian, expected.hessian_product) <= tolerance);
  loss.row_directional_derivatives(in.w, in.u, derivatives);
  CHECK(relative_error(derivatives, expected.row_derivatives) <= tolerance);

  std::fill(gradient.begin(), gradient.end(), 9e9);
  std::fill(hessian.begin(), hessian.end(), 9e9);
  std::fill(derivatives.begin(), derivatives.end(), 9e9);
  CHECK(relative_error(loss.fused(in.w, weights, scale, in.u, gradient, hessian, derivatives),
                       expected.value) <= tolerance);
  CHECK(relative_error(gradient, expected.gradient) <= tolerance);
  CHECK(relative_error(hessian, expected.hessian_product) <= tolerance);
  CHECK(relative_error(derivatives, expected.row_derivatives) <= tolerance);

  loss.row_losses(in.w, losses);
  CHECK(relative_error(losses, expected.row_losses) <= tolerance);

  // loss = -log s(m), and the curvature is s (1 - s).
  Vector curvatures(rows, 9e9), from_losses;
  loss.row_curvatures(in.w, curvatures);
  for (const double l : expected.row_losses) from_losses.push_back(-std::exp(-l) * std::expm1(-l));
  CHECK(relative_error(curvatures, from_losses) <= tolerance);
}

void check_dense_and_sparse(const Instance& in, double tolerance = kTolerance) {
  const Products plain = in.reference({}, 0.125), weighted = in.reference(in.weights, 2);
  for (const bool is_sparse : {false, true}) {
    CAPTURE(is_sparse);
    LogisticLoss loss = is_sparse ? in.sparse() : in.dense();
    check_all(loss, in, {}, 0.125, plain, tolerance);
    check_all(loss, in, in.weights, 2, weighted, tolerance);
  }
}

}  // namespace

TEST_CASE("logistic: every product on every instruction set equals the plain reference") {
  for_each_instruction_set([](const std::string& name) {
    CAPTURE(name);
    for (const std::size_t cols : {1U, 7U, 16U, 22U, 54U, 784U}) {
      for (const std::size_t rows : {1U, 8U, 31U, 64U, 77U, 130U}) {
        CAPTURE(cols);
        CAPTURE(rows);
        check_dense_and_sparse(Instance(rows, cols, 1000 + cols * rows));
      }
    }
    for (std::size_t rows = 1; rows <= 130; ++rows) {
      CAPTURE(rows);
      check_dense_and_sparse(Instance(rows, 5, rows));
    }
  });
}

TEST_CASE("logistic: a range of rows is the sum over those rows, wherever it begins and whatever is wanted") {
  for_each_instruction_set([](const std::string& name) {
    CAPTURE(name);
    const Instance in(131, 22, 61);
    for (const bool is_sparse : {false, true}) {
      CAPTURE(is_sparse);
      LogisticLoss loss = is_sparse ? in.sparse() : in.dense();
      check_ranges(loss, in.w, in.u, in.weights,
                   [&](std::span<const double> masked) { return in.reference(masked, 0.5); });
    }
  });
}

TEST_CASE("logistic: products are the derivatives of the value") {
  constexpr double kStep = 1e-5, kDifferenceTolerance = 1e-6;  // errors near 1e-10: see the softmax test
  const Instance in(41, 9, 3);
  for (const bool is_sparse : {false, true}) {
    CAPTURE(is_sparse);
    LogisticLoss loss = is_sparse ? in.sparse() : in.dense();
    Vector ahead = in.w, behind = in.w;
    for (std::size_t k = 0; k < 9; ++k) ahead[k] += kStep * in.u[k], behind[k] -= kStep * in.u[k];
    Vector gradient(9), hessian(9), derivatives(41), g_ahead(9), g_behind(9), l_ahead(41), l_behind(41);
    loss.fused(in.w, in.weights, 0.5, in.u, gradient, hessian, derivatives);
    const double slope = std::inner_product(gradient.begin(), gradient.end(), in.u.begin(), 0.0);
    const double difference =
        loss.gradient(ahead, in.weights, 0.5, g_ahead) - loss.gradient(behind, in.weights, 0.5, g_behind);
    CHECK(relative_error(slope, difference / (2 * kStep)) <= kDifferenceTolerance);
    for (std::size_t k = 0; k < 9; ++k) g_ahead[k] = (g_ahead[k] - g_behind[k]) / (2 * kStep);
    CHECK(relative_error(hessian, g_ahead) <= kDifferenceTolerance);
    loss.row_losses(ahead, l_ahead);
    loss.row_losses(behind, l_behind);
    for (std::size_t r = 0; r < 41; ++r) l_ahead[r] = (l_ahead[r] - l_behind[r]) / (2 * kStep);
    CHECK(relative_error(derivatives, l_ahead) <= kDifferenceTolerance);
  }
}

TEST_CASE("logistic: extreme margins stay finite and right") {
  // Margins of about +-1e4 carry absolute errors of 1e-12, which the exponential turns into relative ones.
  for_each_instruction_set([](const std::string& name) {
    CAPTURE(name);
    check_dense_and_sparse(Instance(53, 20, 17, 1e4), 10 * kTolerance);
  });
}

TEST_CASE("logistic: a confident row keeps the relative accuracy of its tiny loss") {
  for_each_instruction_set([](const std::string& name) {
    CAPTURE(name);
    DenseRows x(2, 1);
    x.mutable_row(0)[0] = 1;
    x.mutable_row(1)[0] = -1;
    LogisticLoss loss(share(x), {1, -1});
    Vector gradient(1), losses(2);
    CHECK(relative_error(loss.gradient(Vector{60}, {}, 1, gradient), 2 * std::exp(-60.0)) <= 1e-14);
    CHECK(relative_error(gradient[0], -2 * std::exp(-60.0)) <= 1e-14);
    loss.row_losses(Vector{60}, losses);
    CHECK(relative_error(losses, Vector(2, std::exp(-60.0))) <= 1e-14);
  });
}

TEST_CASE("logistic: is the softmax of two classes with the difference of their vectors") {
  const Instance in(90, 13, 5);
  std::vector<std::int32_t> classes;
  for (const std::int32_t label : in.labels) classes.push_back(label > 0 ? 1 : 0);
  SoftmaxLoss softmax(share(in.x), classes, 2);
  LogisticLoss logistic = in.dense();
  Vector both(26, 0.0), gradient(13), both_gradient(26);
  std::copy(in.w.begin(), in.w.end(), both.begin() + 13);
  CHECK(relative_error(logistic.gradient(in.w, {}, 1, gradient),
                       softmax.gradient(both, {}, 1, both_gradient)) <= kTolerance);
  CHECK(relative_error(gradient, std::span(both_gradient).subspan(13)) <= kTolerance);
}

TEST_CASE("logistic: a point that is not finite gives no finite value") {
  for_each_instruction_set([](const std::string& name) {
    CAPTURE(name);
    DenseRows x(1, 2);
    x.mutable_row(0)[0] = x.mutable_row(0)[1] = 1;
    for (const double bad :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
          -std::numeric_limits<double>::infinity()}) {
      LogisticLoss loss(share(x), {1});
      Vector gradient(2);
      CHECK(std::isnan(loss.gradient(Vector{bad, 1}, {}, 1, gradient)));
      CHECK(std::isnan(gradient[0]));
    }
  });
}

TEST_CASE("logistic: predictions are the sign of w.x, -1 at zero") {
  const Instance in(70, 11, 9);
  for (const bool is_sparse : {false, true}) {
    LogisticLoss loss = is_sparse ? in.sparse() : in.dense();
    std::vector<std::int32_t> predicted(70);
    loss.predict(in.w, predicted);
    for (std::size_t r = 0; r < 70; ++r) {
      double z = 0;
      for (std::size_t k = 0; k < 11; ++k) z += in.w[k] * static_cast<double>(in.x.row(r)[k]);
      REQUIRE(std::abs(z) > 1e-10);
      CHECK(predicted[r] == (z > 0 ? 1 : -1));
    }
    loss.predict(Vector(11, 0.0), predicted);
    CHECK(predicted == std::vector<std::int32_t>(70, -1));
  }
}

TEST_CASE("logistic: the same inputs give the same bits; an object may be moved") {
  const Instance in(131, 54, 41);
  for (const bool is_sparse : {false, true}) {
    LogisticLoss loss = is_sparse ? in.sparse() : in.dense();
    Vector first(54), again(54), scratch(54), rows(131);
    const double value = loss.gradient(in.w, in.weights, 0.1, first);
    loss.fused(in.u, {}, 1, in.w, scratch, again, rows);
    LogisticLoss moved = std::move(loss);
    CHECK(moved.gradient(in.w, in.weights, 0.1, again) == value);
    CHECK(again == first);
    CHECK(moved.rows() == 131);
    CHECK(moved.dimension() == 54);
  }
}

TEST_CASE("logistic: what cannot be is refused") {
  const auto rows = share(DenseRows(2, 3));
  CHECK_THROWS_AS(LogisticLoss(nullptr, {}), std::invalid_argument);
  CHECK_THROWS_AS(LogisticLoss(rows, {1}), std::invalid_argument);
  CHECK_THROWS_AS(LogisticLoss(rows, {1, 0}), std::invalid_argument);
}
