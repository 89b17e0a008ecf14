#include "adbo/kernels/softmax.h"

#include <doctest/doctest.h>

#include <limits>
#include <numeric>
#include <stdexcept>

#include "loss_data.h"

using namespace adbo::test;
using adbo::kernels::SoftmaxLoss;

namespace {

struct Instance {
  Instance(std::size_t rows, std::size_t cols, std::size_t classes_, std::uint64_t seed,
           double logit_size = 1)
      : classes(classes_) {
    Random random(seed);
    x = random_rows(random, rows, cols, 0.4);
    for (std::size_t r = 0; r < rows; ++r) labels.push_back(static_cast<std::int32_t>(random.below(classes)));
    const double scale_of_w = logit_size / std::sqrt(static_cast<double>(cols));
    w = normals(random, classes * cols, scale_of_w);
    u = normals(random, classes * cols);
    for (std::size_t r = 0; r < rows; ++r) weights.push_back(r % 7 == 3 ? 0 : random.uniform());
  }

  [[nodiscard]] Products reference(std::span<const double> row_weights, double scale) const {
    return softmax_reference(x, labels, classes, w, row_weights, scale, u);
  }
  [[nodiscard]] SoftmaxLoss dense() const { return {share(x), labels, static_cast<int>(classes)}; }
  [[nodiscard]] SoftmaxLoss sparse() const {
    return {share(to_sparse(x)), labels, static_cast<int>(classes)};
  }

  std::size_t classes;
  DenseRows x;
  std::vector<std::int32_t> labels;
  Vector w, u, weights;
};

/// Every product of `loss` against the reference.
void check_all(SoftmaxLoss& loss, const Instance& in, std::span<const double> weights, double scale,
               const Products& expected) {
  const std::size_t rows = in.x.rows();
  Vector gradient(loss.dimension(), 9e9), hessian(loss.dimension(), 9e9), derivatives(rows, 9e9);
  // A mean of logarithms may cancel nothing: all terms are positive.
  CHECK(relative_error(loss.value(in.w, weights, scale), expected.value) <= kTolerance);
  CHECK(relative_error(loss.gradient(in.w, weights, scale, gradient), expected.value) <= kTolerance);
  CHECK(relative_error(gradient, expected.gradient) <= kTolerance);
  loss.hessian_product(in.w, weights, scale, in.u, hessian);
  CHECK(relative_error(hessian, expected.hessian_product) <= kTolerance);
  loss.row_directional_derivatives(in.w, in.u, derivatives);
  CHECK(relative_error(derivatives, expected.row_derivatives) <= kTolerance);

  std::fill(gradient.begin(), gradient.end(), 9e9);
  std::fill(hessian.begin(), hessian.end(), 9e9);
  std::fill(derivatives.begin(), derivatives.end(), 9e9);
  const double value = loss.fused(in.w, weights, scale, in.u, gradient, hessian, derivatives);
  CHECK(relative_error(value, expected.value) <= kTolerance);
  CHECK(relative_error(gradient, expected.gradient) <= kTolerance);
  CHECK(relative_error(hessian, expected.hessian_product) <= kTolerance);
  CHECK(relative_error(derivatives, expected.row_derivatives) <= kTolerance);

  Vector losses(rows), probabilities(rows * in.classes);
  loss.row_losses(in.w, losses);
  CHECK(relative_error(losses, expected.row_losses) <= kTolerance);
  loss.probabilities(in.w, probabilities);
  CHECK(relative_error(probabilities, expected.probabilities) <= kTolerance);
}

void check_dense_and_sparse(const Instance& in) {
  const Products plain = in.reference({}, 1.0 / static_cast<double>(in.x.rows()));
  const Products weighted = in.reference(in.weights, 0.25);
  for (const bool is_sparse : {false, true}) {
    CAPTURE(is_sparse);
    SoftmaxLoss loss = is_sparse ? in.sparse() : in.dense();
    check_all(loss, in, {}, 1.0 / static_cast<double>(in.x.rows()), plain);
    check_all(loss, in, in.weights, 0.25, weighted);
  }
}

}  // namespace

TEST_CASE("softmax: every product on every instruction set equals the plain reference") {
  std::vector<std::string> names;
  for_each_instruction_set([&](const std::string& name) {
    CAPTURE(name);
    names.push_back(name);
    for (const std::size_t classes : {2U, 3U, 10U, 11U, 26U}) {
      for (const std::size_t cols : {1U, 7U, 16U, 22U, 54U, 784U}) {
        for (const std::size_t rows : {1U, 6U, 33U, 75U}) {
          if (cols == 784 && rows > 33 && classes > 10)
            continue;  // the reference would take most of the time
          CAPTURE(classes);
          CAPTURE(cols);
          CAPTURE(rows);
          check_dense_and_sparse(Instance(rows, cols, classes, 100 + classes * cols + rows));
        }
      }
    }
  });
  const auto tested = [&](const char* name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
#if defined(__x86_64__) && defined(__GNUC__)
  // The processor as the compiler's run-time library sees it; HWY_TARGETS is what the build's flags leave to
  // choose.
  if ((HWY_TARGETS & HWY_AVX3) != 0 && __builtin_cpu_supports("avx512dq")) CHECK(tested("AVX-512"));
  if ((HWY_TARGETS & HWY_AVX2) != 0 && __builtin_cpu_supports("avx2")) CHECK(tested("AVX2"));
  if ((HWY_TARGETS & HWY_SSE4) != 0 && __builtin_cpu_supports("sse4.1")) CHECK(tested("SSE4.1"));
#endif
  CHECK(tested(std::string(adbo::kernels::active_instruction_set()).c_str()));
}

TEST_CASE("softmax: a range of rows is the sum over those rows, wherever it begins and whatever is wanted") {
  for_each_instruction_set([](const std::string& name) {
    CAPTURE(name);
    for (const std::size_t classes : {3U, 10U}) {
      CAPTURE(classes);
      const Instance in(131, 22, classes, 61);
      for (const bool is_sparse : {false, true}) {
        CAPTURE(is_sparse);
        SoftmaxLoss loss = is_sparse ? in.sparse() : in.dense();
        check_ranges(loss, in.w, in.u, in.weights,
                     [&](std::span<const double> masked) { return in.reference(masked, 0.5); });
      }
    }
  });
}

TEST_CASE("softmax: every number of rows around the blocks") {
  for_each_instruction_set([](const std::string& name) {
    CAPTURE(name);
    for (std::size_t rows = 1; rows <= 130; ++rows) {
      CAPTURE(rows);
      check_dense_and_sparse(Instance(rows, 7, 3, rows));
    }
  });
}

TEST_CASE("softmax: every number of classes around the register tiles, and many") {
  for_each_instruction_set([](const std::string& name) {
    CAPTURE(name);
    for (std::size_t classes = 1; classes <= 24; ++classes) {
      CAPTURE(classes);
      check_dense_and_sparse(Instance(9, 18, classes, classes));
    }
    check_dense_and_sparse(Instance(40, 5, 1003, 5));
  });
}

TEST_CASE("softmax: every number of columns around the vector lengths") {
  for_each_instruction_set([](const std::string& name) {
    CAPTURE(name);
    for (std::size_t cols = 1; cols <= 50; ++cols) {
      CAPTURE(cols);
      check_dense_and_sparse(Instance(5, cols, 4, cols));
    }
  });
}

TEST_CASE("softmax: products are the derivatives of the value") {
  // Central differences with h = 1e-5: truncation h^2 and rounding 1e-16 / h are both near 1e-10 relative to
  // quantities of order one, far below the 1e-6 asked for.
  constexpr double kStep = 1e-5, kDifferenceTolerance = 1e-6;
  const Instance in(23, 9, 4, 3);
  for (const bool is_sparse : {false, true}) {
    CAPTURE(is_sparse);
    SoftmaxLoss loss = is_sparse ? in.sparse() : in.dense();
    const std::size_t n = loss.dimension();
    const auto moved = [&](double step) {
      Vector w = in.w;
      for (std::size_t i = 0; i < n; ++i) w[i] += step * in.u[i];
      return w;
    };
    const Vector ahead = moved(kStep), behind = moved(-kStep);
    Vector gradient(n), hessian(n), derivatives(23), gradient_ahead(n), gradient_behind(n), losses_ahead(23),
        losses_behind(23), difference(n), loss_difference(23);
    loss.fused(in.w, in.weights, 0.5, in.u, gradient, hessian, derivatives);

    double slope = std::inner_product(gradient.begin(), gradient.end(), in.u.begin(), 0.0);
    const double value_difference = loss.gradient(ahead, in.weights, 0.5, gradient_ahead) -
                                    loss.gradient(behind, in.weights, 0.5, gradient_behind);
    CHECK(relative_error(slope, value_difference / (2 * kStep)) <= kDifferenceTolerance);
    for (std::size_t i = 0; i < n; ++i)
      difference[i] = (gradient_ahead[i] - gradient_behind[i]) / (2 * kStep);
    CHECK(relative_error(hessian, difference) <= kDifferenceTolerance);
    loss.row_losses(ahead, losses_ahead);
    loss.row_losses(behind, losses_behind);
    for (std::size_t r = 0; r < 23; ++r)
      loss_difference[r] = (losses_ahead[r] - losses_behind[r]) / (2 * kStep);
    CHECK(relative_error(derivatives, loss_difference) <= kDifferenceTolerance);
  }
}

TEST_CASE("softmax: extreme logits stay finite and right") {
  for_each_instruction_set([](const std::string& name) {
    CAPTURE(name);
    // Logits of about +-1e4: the products then carry rounding errors of 1e-12 absolute, which the exponential
    // turns into 1e-12 relative; ten times the usual tolerance leaves room for both.
    const Instance in(45, 20, 5, 17, 1e4);
    const Products expected = in.reference({}, 1);
    for (const bool is_sparse : {false, true}) {
      SoftmaxLoss loss = is_sparse ? in.sparse() : in.dense();
      Vector gradient(loss.dimension()), hessian(loss.dimension()), derivatives(45), losses(45);
      const double value = loss.fused(in.w, {}, 1, in.u, gradient, hessian, derivatives);
      loss.row_losses(in.w, losses);
      CHECK(relative_error(value, expected.value) <= 10 * kTolerance);
      CHECK(relative_error(losses, expected.row_losses) <= 10 * kTolerance);
      CHECK(relative_error(gradient, expected.gradient) <= 10 * kTolerance);
      CHECK(relative_error(derivatives, expected.row_derivatives) <= 10 * kTolerance);
      for (const double h : hessian) CHECK(std::isfinite(h));
    }
  });
}

TEST_CASE("softmax: a confident row keeps the relative accuracy of its tiny loss and gradient") {
  for_each_instruction_set([](const std::string& name) {
    CAPTURE(name);
    DenseRows x(1, 1);
    x.mutable_row(0)[0] = 1;
    SoftmaxLoss loss(share(x), {1}, 3);
    const Vector w = {-20, 40, -25};
    const double miss =
        std::exp(-60.0) + std::exp(-65.0);  // to first order, and the second is 1e-26 relative
    Vector gradient(3), losses(1);
    CHECK(relative_error(loss.gradient(w, {}, 1, gradient), miss) <= 1e-14);
    CHECK(relative_error(gradient, Vector{std::exp(-60.0), -miss, std::exp(-65.0)}) <= 1e-14);
    loss.row_losses(w, losses);
    CHECK(relative_error(losses[0], miss) <= 1e-14);
  });
}

TEST_CASE("softmax: a point that is not finite gives no finite value") {
  for_each_instruction_set([](const std::string& name) {
    CAPTURE(name);
    for (const double bad :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
          -std::numeric_limits<double>::infinity()}) {
      for (std::size_t c = 0; c < 3; ++c) {  // in any class, the label's or another
        Instance in(3, 4, 3, 8);
        for (std::size_t k = 0; k < 4; ++k) in.x.mutable_row(1)[k] = 1;
        in.w[c * 4 + 2] = bad;
        SoftmaxLoss loss = in.dense();
        Vector gradient(loss.dimension());
        CHECK(std::isnan(loss.value(in.w, {}, 1)));
        CHECK(std::isnan(loss.gradient(in.w, {}, 1, gradient)));
        CHECK(std::isnan(gradient[2]));
      }
    }
  });
}

TEST_CASE("softmax: dense and sparse rows of the same data agree") {
  const Instance in(77, 33, 6, 21);
  SoftmaxLoss dense = in.dense(), sparse = in.sparse();
  Vector g_dense(dense.dimension()), g_sparse(dense.dimension());
  const double v_dense = dense.gradient(in.w, in.weights, 1, g_dense);
  const double v_sparse = sparse.gradient(in.w, in.weights, 1, g_sparse);
  CHECK(relative_error(v_dense, v_sparse) <= 1e-14);
  CHECK(relative_error(g_dense, g_sparse) <= 1e-14);
  std::vector<std::int32_t> p_dense(77), p_sparse(77);
  dense.predict(in.w, p_dense);
  sparse.predict(in.w, p_sparse);
  CHECK(p_dense == p_sparse);
}

TEST_CASE("softmax: predictions are the largest logit, the smallest class at a tie") {
  const Instance in(65, 12, 7, 31);
  for (const bool is_sparse : {false, true}) {
    SoftmaxLoss loss = is_sparse ? in.sparse() : in.dense();
    std::vector<std::int32_t> predicted(65);
    Vector probabilities(65 * 7);
    loss.predict(in.w, predicted);
    loss.probabilities(in.w, probabilities);
    for (std::size_t r = 0; r < 65; ++r) {
      const auto row = std::span(probabilities).subspan(r * 7, 7);
      CHECK(predicted[r] == std::max_element(row.begin(), row.end()) - row.begin());
    }
    loss.predict(Vector(loss.dimension(), 0.0), predicted);
    CHECK(predicted == std::vector<std::int32_t>(65, 0));
    Vector w(loss.dimension(), 0.0);
    std::copy_n(in.w.begin(), 12, w.begin() + 3 * 12);  // classes 3 and 5 tie, above or below the zeros
    std::copy_n(in.w.begin(), 12, w.begin() + 5 * 12);
    loss.predict(w, predicted);
    int threes = 0;
    for (const std::int32_t c : predicted) {
      CHECK((c == 0 || c == 3));
      threes += c == 3 ? 1 : 0;
    }
    CHECK(threes > 10);
    CHECK(threes < 55);
  }
}

TEST_CASE("softmax: the same inputs give the same bits, in every call and every object") {
  const Instance in(131, 54, 11, 41);
  for (const bool is_sparse : {false, true}) {
    SoftmaxLoss loss = is_sparse ? in.sparse() : in.dense();
    SoftmaxLoss other = is_sparse ? in.sparse() : in.dense();
    Vector first(loss.dimension()), again(loss.dimension()), scratch(loss.dimension()), rows(131);
    const double value = loss.gradient(in.w, in.weights, 0.1, first);
    loss.fused(in.u, {}, 1, in.w, scratch, again, rows);  // leaves other numbers in the scratch memory
    CHECK(loss.gradient(in.w, in.weights, 0.1, again) == value);
    CHECK(again == first);
    CHECK(other.gradient(in.w, in.weights, 0.1, again) == value);
    CHECK(again == first);
    CHECK(loss.value(in.w, in.weights, 0.1) == value);
  }
}

TEST_CASE("softmax: sparse rows may be empty, and no rows at all give zero") {
  SparseRows rows;
  rows.cols = 6;
  rows.row_begin = {0, 0, 2, 2};
  rows.column = {1, 4};
  rows.value = {2, -1};
  SoftmaxLoss loss(share(rows), {0, 2, 1}, 3);
  Vector w(18), losses(3);
  std::iota(w.begin(), w.end(), 0.0);
  loss.row_losses(w, losses);
  CHECK(losses[0] == doctest::Approx(std::log(3.0)).epsilon(1e-15));
  CHECK(losses[2] == doctest::Approx(std::log(3.0)).epsilon(1e-15));

  SparseRows no_rows;
  no_rows.cols = 4;
  for (const auto& matrix : {share(no_rows), share(DenseRows(0, 4))}) {
    SoftmaxLoss empty(matrix, {}, 2);
    Vector gradient(8, 1.0);
    CHECK(empty.gradient(Vector(8, 1.0), {}, 1, gradient) == 0);
    CHECK(gradient == Vector(8, 0.0));
  }
}

TEST_CASE("softmax: an object may be moved") {
  const Instance in(20, 9, 3, 51);
  SoftmaxLoss a = in.dense();
  Vector expected(a.dimension()), gradient(a.dimension());
  a.gradient(in.w, {}, 1, expected);
  SoftmaxLoss b = std::move(a);
  b.gradient(in.w, {}, 1, gradient);
  CHECK(gradient == expected);
  SoftmaxLoss c = Instance(4, 4, 2, 52).dense();
  c = std::move(b);
  CHECK(c.rows() == 20);
  CHECK(c.classes() == 3);
  CHECK(c.dimension() == 27);
  CHECK(std::equal(c.labels().begin(), c.labels().end(), in.labels.begin(), in.labels.end()));
  c.gradient(in.w, {}, 1, gradient);
  CHECK(gradient == expected);
}

TEST_CASE("softmax: what cannot be is refused") {
  const auto rows = share(DenseRows(2, 3));
  CHECK_THROWS_AS(SoftmaxLoss(nullptr, {}, 2), std::invalid_argument);
  CHECK_THROWS_AS(SoftmaxLoss(rows, {0}, 2), std::invalid_argument);
  CHECK_THROWS_AS(SoftmaxLoss(rows, {0, 2}, 2), std::invalid_argument);
  CHECK_THROWS_AS(SoftmaxLoss(rows, {0, -1}, 2), std::invalid_argument);
  CHECK_THROWS_AS(SoftmaxLoss(rows, {0, 0}, 0), std::invalid_argument);
}
