#include "adbo/kernels/fit.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "adbo/kernels/logistic.h"
#include "random_data.h"

using namespace adbo::kernels;

namespace {

using Vector = std::vector<double>;
using Span = std::span<double>;
using ConstSpan = std::span<const double>;

double norm(ConstSpan a) {
  double square = 0;
  for (const double v : a) square += v * v;
  return std::sqrt(square);
}

/// constant + 1/2 sum d_k (w_k - minimum_k)^2.
struct DiagonalQuadratic {
  Vector d, minimum;
  double constant = 0;

  double operator()(ConstSpan w, Span gradient) const {
    double value = constant;
    for (std::size_t k = 0; k < w.size(); ++k) {
      gradient[k] = d[k] * (w[k] - minimum[k]);
      value += 0.5 * gradient[k] * (w[k] - minimum[k]);
    }
    return value;
  }
  [[nodiscard]] HessianProduct hessian() const {
    return [this](ConstSpan, ConstSpan u, Span out) {
      for (std::size_t k = 0; k < u.size(); ++k) out[k] = d[k] * u[k];
    };
  }
};

/// Eigenvalues from 1 down to 1 / condition, evenly in the logarithm.
DiagonalQuadratic quadratic(std::size_t n, double condition, std::uint64_t seed) {
  adbo::test::Random random(seed);
  DiagonalQuadratic q{.d = Vector(n), .minimum = Vector(n)};
  for (std::size_t k = 0; k < n; ++k) {
    q.d[k] = std::pow(condition, -static_cast<double>(k) / static_cast<double>(n - 1));
    q.minimum[k] = random.normal();
  }
  return q;
}

/// Mean logistic loss + l2/2 ||w||^2 over columns whose scales fall from 1 to 1/300: the curvature of the
/// mean loss falls by their squares, so that the condition number is about 1e5.
struct RegularizedLogistic {
  static constexpr std::size_t kRows = 400, kCols = 30;

  explicit RegularizedLogistic(double l2_) : l2(l2_) {
    adbo::test::Random random(7);
    DenseRows rows(kRows, kCols);
    std::vector<std::int32_t> labels(kRows);
    for (std::size_t r = 0; r < kRows; ++r) {
      for (std::size_t k = 0; k < kCols; ++k) {
        const double scale = std::pow(300.0, -static_cast<double>(k) / (kCols - 1));
        rows.mutable_row(r)[k] = static_cast<float>(scale * random.normal());
      }
      labels[r] = random.normal() + 2 * double{rows.row(r)[0]} > 0 ? 1 : -1;
    }
    loss = std::make_unique<LogisticLoss>(std::make_shared<const Rows>(std::move(rows)), std::move(labels));
  }

  double operator()(ConstSpan w, Span gradient) const {
    double value = loss->gradient(w, {}, 1.0 / kRows, gradient);
    for (std::size_t k = 0; k < w.size(); ++k) {
      value += 0.5 * l2 * w[k] * w[k];
      gradient[k] += l2 * w[k];
    }
    return value;
  }
  void hessian_product(ConstSpan w, ConstSpan u, Span out) const {
    loss->hessian_product(w, {}, 1.0 / kRows, u, out);
    for (std::size_t k = 0; k < w.size(); ++k) out[k] += l2 * u[k];
  }

  double l2;
  std::unique_ptr<LogisticLoss> loss;
};

}  // namespace

TEST_CASE("fit: a quadratic, from L-BFGS alone and with a Hessian") {
  const DiagonalQuadratic q = quadratic(40, 1e4, 1);
  for (const bool with_hessian : {false, true}) {
    Vector w(40, 0.0);
    const FitResult result = fit(w, q, with_hessian ? q.hessian() : HessianProduct(), {});
    CHECK(result.status == FitStatus::kConverged);
    CHECK(result.gradient_norm <= 1e-8);
    // The error is at most the gradient's norm over the smallest eigenvalue.
    for (std::size_t k = 0; k < w.size(); ++k) CHECK(std::abs(w[k] - q.minimum[k]) <= 1e-8 * 1e4);
  }
}

TEST_CASE("fit: what is reported belongs to the point that is left") {
  const DiagonalQuadratic q = quadratic(12, 100, 2);
  for (const int limit : {1, 2, 3, 5, 9, 200}) {
    Vector w(12, 0.0), gradient(12);
    const double start = q(w, gradient);
    const FitResult result = fit(w, q, q.hessian(), {.max_evaluations = limit});
    CHECK(result.evaluations <= limit);
    CHECK(result.status == (limit == 200 ? FitStatus::kConverged : FitStatus::kEvaluationLimit));
    CHECK(result.value == q(w, gradient));
    CHECK(result.gradient_norm == doctest::Approx(norm(gradient)).epsilon(1e-12));
    CHECK(result.value <= start);
  }
}

TEST_CASE("fit: ill-conditioned logistic regression to a gradient of 1e-8") {
  const RegularizedLogistic problem(1e-6);
  const auto hessian = [&](ConstSpan w, ConstSpan u, Span out) { problem.hessian_product(w, u, out); };

  // The instance is as hard as it claims to be: the curvature along the first and the last feature at the
  // start.
  Vector zero(RegularizedLogistic::kCols, 0.0), e = zero, image = zero;
  e.front() = 1;
  hessian(zero, e, image);
  const double largest = image.front();
  e.front() = 0, e.back() = 1;
  hessian(zero, e, image);
  REQUIRE(largest / image.back() > 5e4);

  Vector reference;
  for (const bool with_hessian : {true, false}) {
    Vector w = zero;
    const FitResult result =
        fit(w, std::ref(problem), with_hessian ? HessianProduct(hessian) : HessianProduct(), {});
    CHECK(result.status == FitStatus::kConverged);
    CHECK(result.gradient_norm <= 1e-8);
    Vector gradient(w.size());
    CHECK(problem(w, gradient) == result.value);
    CHECK(norm(gradient) <= 1e-8 * (1 + 1e-12));
    if (reference.empty()) reference = w;
    // 1e-8 over the smallest curvature, about 1e-6: the two solutions agree to 0.02.
    for (std::size_t k = 0; k < w.size(); ++k) CHECK(std::abs(w[k] - reference[k]) <= 0.02);
  }
}

TEST_CASE("fit: the Hessian finishes where values no longer tell points apart") {
  DiagonalQuadratic q = quadratic(25, 1e5, 3);
  q.constant = 1e7;  // values are rounded to 2e-9, a gradient of 1e-8 means differences of 1e-16 to 1e-11
  Vector w(25, 0.0);
  const FitResult result = fit(w, q, q.hessian(), {});
  CHECK(result.status == FitStatus::kConverged);
  CHECK(result.gradient_norm <= 1e-8);
}

TEST_CASE("fit: the Hessian finishes where the values are noise") {
  const DiagonalQuadratic q = quadratic(25, 1e5, 3);
  // As a sum over very many rows would: relative errors of 5e-13, different at every point. They hide every
  // decrease once the gradient is below about 1e-6; with several phases some of them make the last steps look
  // like ascent.
  for (int start = 0; start < 10; ++start) {
    const auto noisy = [&](ConstSpan w, Span gradient) {
      const double value = 1 + q(w, gradient);
      double phase = start;
      for (const double v : w) phase += 1e9 * v;
      return value + 5e-13 * std::sin(phase);
    };
    Vector w(25, 0.0);
    const FitResult result = fit(w, noisy, q.hessian(), {});
    CHECK(result.status == FitStatus::kConverged);
    CHECK(result.gradient_norm <= 1e-8);
  }
}

TEST_CASE("fit: a start whose value happens to be rounded down is left for a smaller gradient") {
  const DiagonalQuadratic q = quadratic(25, 10, 3);
  Vector start = q.minimum;
  for (double& v : start) v += 1e-7;
  const auto lucky_at_start = [&](ConstSpan w, Span gradient) {
    const double value = 1 + q(w, gradient);
    return std::equal(w.begin(), w.end(), start.begin()) ? value - 5e-13 : value;  // no decrease from here on
  };
  Vector w = start;
  const FitResult result = fit(w, lucky_at_start, q.hessian(), {});
  CHECK(result.status == FitStatus::kConverged);
  CHECK(result.gradient_norm <= 1e-8);

  w = start;
  CHECK(fit(w, lucky_at_start, {}, {}).status ==
        FitStatus::kStalled);  // without the Hessian there is no telling
  CHECK(w == start);
}

TEST_CASE("fit: a curved valley that is not convex everywhere") {
  const auto rosenbrock = [](ConstSpan w, Span g) {
    const double a = 1 - w[0], b = w[1] - w[0] * w[0];
    g[0] = -2 * a - 400 * w[0] * b;
    g[1] = 200 * b;
    return a * a + 100 * b * b;
  };
  const auto hessian = [](ConstSpan w, ConstSpan u, Span out) {
    out[0] = (2 - 400 * (w[1] - 3 * w[0] * w[0])) * u[0] - 400 * w[0] * u[1];
    out[1] = -400 * w[0] * u[0] + 200 * u[1];
  };
  for (const bool with_hessian : {false, true}) {
    Vector w = {-1.2, 1.0};
    const FitResult result =
        fit(w, rosenbrock, with_hessian ? HessianProduct(hessian) : HessianProduct(), {});
    CHECK(result.status == FitStatus::kConverged);
    CHECK(w[0] == doctest::Approx(1).epsilon(1e-6));
    CHECK(w[1] == doctest::Approx(1).epsilon(1e-6));
    CHECK(result.evaluations < 100);
  }
}

TEST_CASE("fit: already at the minimum") {
  const DiagonalQuadratic q = quadratic(5, 10, 4);
  Vector w = q.minimum;
  const FitResult result = fit(w, q, q.hessian(), {});
  CHECK(result.status == FitStatus::kConverged);
  CHECK(result.evaluations == 1);
  CHECK(result.gradient_norm == 0);
  CHECK(w == q.minimum);
}

TEST_CASE("fit: an unreachable tolerance ends as a stall close to the minimum, not at the evaluation limit") {
  const RegularizedLogistic problem(1e-2);
  const auto hessian = [&](ConstSpan w, ConstSpan u, Span out) { problem.hessian_product(w, u, out); };
  for (const bool with_hessian : {false, true}) {
    Vector w(RegularizedLogistic::kCols, 0.0);
    const FitResult result =
        fit(w, std::ref(problem), with_hessian ? HessianProduct(hessian) : HessianProduct(),
            {.gradient_tolerance = 1e-30, .max_evaluations = 20000});
    CHECK(result.status == FitStatus::kStalled);
    CHECK(result.gradient_norm < 1e-8);
    CHECK(result.evaluations < 5000);
  }
}

TEST_CASE("fit: unbounded below") {
  SUBCASE("a negative regularizer") {
    const RegularizedLogistic problem(-0.1);
    const auto hessian = [&](ConstSpan w, ConstSpan u, Span out) { problem.hessian_product(w, u, out); };
    for (const bool with_hessian : {false, true}) {
      Vector w(RegularizedLogistic::kCols, 0.0);
      const FitResult result =
          fit(w, std::ref(problem), with_hessian ? HessianProduct(hessian) : HessianProduct(), {});
      CHECK(result.status == FitStatus::kUnbounded);
      CHECK(result.value < -1e10);
      CHECK(std::isfinite(result.value));
      for (const double v : w) CHECK(std::isfinite(v));
    }
  }
  SUBCASE("one concave direction among convex ones") {
    DiagonalQuadratic q = quadratic(8, 10, 5);
    q.d[3] = -0.01;
    Vector w(8, 0.0);
    CHECK(fit(w, q, q.hessian(), {}).status == FitStatus::kUnbounded);
  }
  SUBCASE("a linear function") {
    const auto linear = [](ConstSpan w, Span g) {
      g[0] = -1e-3;
      return -1e-3 * w[0];
    };
    Vector w = {0};
    CHECK(fit(w, linear, {}, {}).status == FitStatus::kUnbounded);
  }
  SUBCASE("but not a convex function whose minimum is very far and very low") {
    DiagonalQuadratic q{.d = {1e-8, 1.0}, .minimum = {1e9, 0.0}};  // value falls by 5e9 on the way
    Vector w = {0, 1};
    const FitResult result = fit(w, q, q.hessian(), {.gradient_tolerance = 1e-6});
    CHECK(result.status == FitStatus::kConverged);
  }
}

TEST_CASE("fit: functions that are not finite") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const DiagonalQuadratic q = quadratic(6, 10, 6);
  SUBCASE("at the start: w is left alone") {
    for (const double bad : {nan, infinity}) {
      Vector w = {1, 2, 3, 4, 5, 6};
      const FitResult result = fit(w, [bad](ConstSpan, Span g) { return g[0] = 0, bad; }, {}, {});
      CHECK(result.status == FitStatus::kNotFinite);
      CHECK(result.evaluations == 1);
      CHECK(w == Vector{1, 2, 3, 4, 5, 6});
    }
  }
  SUBCASE("from some evaluation on: the best point before it is left") {
    for (const bool in_gradient : {false, true}) {
      int calls = 0;
      double best = infinity;
      const auto function = [&](ConstSpan w, Span g) {
        double value = q(w, g);
        if (++calls > 4) (in_gradient ? g[2] : value) = nan;
        if (calls <= 4) best = std::min(best, value);
        return value;
      };
      Vector w(6, 0.0), gradient(6);
      const FitResult result = fit(w, function, {}, {});
      CHECK(result.status == FitStatus::kNotFinite);
      CHECK(result.value == best);
      CHECK(q(w, gradient) == best);
      CHECK(result.evaluations < 100);
    }
  }
  SUBCASE("beyond a barrier: steps shorten, the minimum is found") {
    // -log(1 - w) - 0.5 w - w: minimum at 1 - 1/1.5, undefined from w = 1 on.
    const auto barrier = [](ConstSpan w, Span g) {
      g[0] = 1 / (1 - w[0]) - 1.5;
      return -std::log(1 - w[0]) - 1.5 * w[0];
    };
    Vector w = {-30};
    const FitResult result = fit(w, barrier, {}, {});
    CHECK(result.status == FitStatus::kConverged);
    CHECK(w[0] == doctest::Approx(1.0 / 3).epsilon(1e-7));
  }
}

TEST_CASE("fit: the same inputs give the same bits") {
  const RegularizedLogistic problem(1e-4);
  Vector first(RegularizedLogistic::kCols, 0.0), padded(RegularizedLogistic::kCols + 1, 0.0);
  const FitResult a = fit(first, std::ref(problem), {}, {});
  // At an address with another alignment.
  const FitResult b = fit(Span(padded).subspan(1), std::ref(problem), {}, {});
  CHECK(a.value == b.value);
  CHECK(a.evaluations == b.evaluations);
  CHECK(first == Vector(padded.begin() + 1, padded.end()));
}

TEST_CASE("fit: every status has a name") {
  for (const FitStatus status : {FitStatus::kConverged, FitStatus::kEvaluationLimit, FitStatus::kStalled,
                                 FitStatus::kUnbounded, FitStatus::kNotFinite}) {
    CHECK(to_string(status) != "unknown");
  }
}

namespace {

using Product = std::function<void(ConstSpan, Span)>;

Product multiple_of_identity(double factor) {
  return [factor](ConstSpan u, Span out) {
    for (std::size_t k = 0; k < u.size(); ++k) out[k] = factor * u[k];
  };
}

/// Q diag(d) Q' with one Householder reflection Q: dense, known eigenvalues.
Product reflected_diagonal(Vector d, Vector v) {
  return [d = std::move(d), v = std::move(v)](ConstSpan u, Span out) {
    const auto reflect = [&v](Span a) {
      double dot = 0, square = 0;
      for (std::size_t k = 0; k < a.size(); ++k) dot += v[k] * a[k], square += v[k] * v[k];
      for (std::size_t k = 0; k < a.size(); ++k) a[k] -= 2 * dot / square * v[k];
    };
    std::copy(u.begin(), u.end(), out.begin());
    reflect(out);
    for (std::size_t k = 0; k < out.size(); ++k) out[k] *= d[k];
    reflect(out);
  };
}

double residual(const Product& product, ConstSpan b, ConstSpan x) {
  Vector r(b.size());
  product(x, r);
  for (std::size_t k = 0; k < r.size(); ++k) r[k] = b[k] - r[k];
  return norm(r);
}

}  // namespace

TEST_CASE("conjugate gradients: one step suffices, and its result is returned") {
  for (const std::size_t n : {std::size_t{1}, std::size_t{7}}) {
    const Vector b(n, 5.0);
    Vector x(n, 0.0);
    const LinearSolveResult result = conjugate_gradients(multiple_of_identity(2.5), b, x, 1e-10, 50);
    CHECK(result.converged);
    CHECK(result.iterations == 1);
    CHECK(result.residual_norm <= 1e-15);
    for (const double v : x) CHECK(v == doctest::Approx(2.0).epsilon(1e-15));
  }
}

TEST_CASE("conjugate gradients: a zero right-hand side has the solution zero, from any start") {
  for (const double start : {0.0, 3.0}) {
    const Vector b(7, 0.0);
    Vector x(7, start);
    const LinearSolveResult result = conjugate_gradients(multiple_of_identity(2.5), b, x, 1e-10, 50);
    CHECK(result.converged);
    CHECK(result.residual_norm == 0);
    CHECK(x == Vector(7, 0.0));
  }
}

TEST_CASE("conjugate gradients: the exact solution as the start stays") {
  const Vector b(4, 5.0);
  Vector x(4, 2.0);
  const LinearSolveResult result = conjugate_gradients(multiple_of_identity(2.5), b, x, 1e-10, 50);
  CHECK(result.converged);
  CHECK(result.iterations == 0);
  CHECK(x == Vector(4, 2.0));
}

TEST_CASE("conjugate gradients: the residual reported is that of the x returned") {
  adbo::test::Random random(11);
  constexpr std::size_t kSize = 30;
  Vector d(kSize), v(kSize), b(kSize);
  for (std::size_t k = 0; k < kSize; ++k) {
    d[k] = std::pow(1e6, -static_cast<double>(k) / (kSize - 1));
    v[k] = random.normal();
    b[k] = random.normal();
  }
  const Product product = reflected_diagonal(d, v);
  for (const int limit : {0, 1, 5, 20, 500}) {
    for (const double start : {0.0, 1.0}) {
      Vector x(kSize, start);
      const LinearSolveResult result = conjugate_gradients(product, b, x, 1e-9, limit);
      CHECK(result.iterations <= limit);
      CHECK(result.residual_norm == doctest::Approx(residual(product, b, x)).epsilon(1e-12));
      CHECK(result.converged == (result.residual_norm <= 1e-9 * norm(b)));
      CHECK(result.converged == (limit == 500));
    }
  }
}

TEST_CASE("conjugate gradients: a tolerance below rounding is not claimed, and ends") {
  adbo::test::Random random(12);
  Vector d(20), v(20), b(20), x(20, 0.0);
  for (std::size_t k = 0; k < 20; ++k)
    d[k] = std::pow(10.0, -static_cast<double>(k) / 4), v[k] = random.normal(), b[k] = random.normal();
  const LinearSolveResult result = conjugate_gradients(reflected_diagonal(d, v), b, x, 1e-30, 100000);
  CHECK_FALSE(result.converged);
  CHECK(result.residual_norm < 1e-9 * norm(b));
  CHECK(result.iterations < 100000);
}

TEST_CASE("conjugate gradients: non-positive curvature is reported") {
  const Vector b = {1, 1, 1};
  Vector x(3, 0.0);
  const auto indefinite = [](ConstSpan u, Span out) { out[0] = u[0], out[1] = 2 * u[1], out[2] = -u[2]; };
  const LinearSolveResult result = conjugate_gradients(indefinite, b, x, 1e-10, 50);
  CHECK(result.non_positive_curvature);
  CHECK_FALSE(result.converged);
  CHECK(result.residual_norm == doctest::Approx(residual(indefinite, b, x)).epsilon(1e-12));

  Vector y(3, 0.0);
  const LinearSolveResult singular = conjugate_gradients(multiple_of_identity(0), b, y, 1e-10, 50);
  CHECK(singular.non_positive_curvature);
  CHECK(singular.iterations == 0);
  CHECK(y == Vector(3, 0.0));
}

TEST_CASE("conjugate gradients: a product that is not a number is not a solution") {
  const Vector b = {1, 1};
  Vector x(2, 0.0);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const LinearSolveResult result = conjugate_gradients(multiple_of_identity(nan), b, x, 1e-10, 50);
  CHECK_FALSE(result.converged);
  CHECK_FALSE(result.non_positive_curvature);
}
