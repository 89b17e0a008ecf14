// Mini-batches: unbiased parts of an objective.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "adbo/problems/hyper_cleaning.h"
#include "adbo/problems/quadratic.h"
#include "adbo/problems/regularization_tuning.h"
#include "test_rows.h"

using namespace adbo;
using adbo::test::random_point;
using adbo::test::random_rows;
using adbo::test::relative_error;
using adbo::test::slice;

namespace {

/// Everything an objective says at one point.
struct Evaluated {
  Evaluated(std::size_t n, std::size_t m, bool has_x)
      : upper_x(has_x ? n : 0), upper_y(m), lower_y(m), hessian(m), cross(n) {}

  void add(double factor, const Evaluated& other) {
    const auto add_vector = [&](std::vector<double>& to, const std::vector<double>& from) {
      for (std::size_t k = 0; k < to.size(); ++k) to[k] += factor * from[k];
    };
    upper += factor * other.upper;
    lower += factor * other.lower;
    add_vector(upper_x, other.upper_x);
    add_vector(upper_y, other.upper_y);
    add_vector(lower_y, other.lower_y);
    add_vector(hessian, other.hessian);
    add_vector(cross, other.cross);
  }

  double upper = 0, lower = 0;
  std::vector<double> upper_x, upper_y, lower_y, hessian, cross;
};

double difference(const Evaluated& a, const Evaluated& b) {
  double worst = std::max(std::abs(a.upper - b.upper) / std::abs(b.upper),
                          std::abs(a.lower - b.lower) / std::abs(b.lower));
  worst = std::max({worst, relative_error(a.upper_y, b.upper_y), relative_error(a.lower_y, b.lower_y),
                    relative_error(a.hessian, b.hessian), relative_error(a.cross, b.cross)});
  return b.upper_x.empty() ? worst : std::max(worst, relative_error(a.upper_x, b.upper_x));
}

/// A worker at a random point, in full or by batches.
class AtPoint {
 public:
  AtPoint(const Problem& problem, std::size_t i)
      : worker_(problem.worker(i)),
        x_(random_point(problem.support(i).size, 11 + i)),
        y_(random_point(problem.lower_dim(), 12 + i)),
        u_(random_point(problem.lower_dim(), 13 + i)) {}

  [[nodiscard]] Evaluated blank() const { return {x_.size(), y_.size(), worker_.upper_depends_on_x()}; }
  [[nodiscard]] Evaluated full() const {
    Evaluated out = blank();
    out.upper = worker_.upper(x_, y_, out.upper_x, out.upper_y);
    out.lower = worker_.lower_fused(x_, y_, u_, out.lower_y, out.hessian, out.cross);
    return out;
  }
  [[nodiscard]] Evaluated batch(const Batch& batch) const {
    Evaluated out = blank();
    out.upper = worker_.upper_batch(batch, x_, y_, out.upper_x, out.upper_y);
    out.lower = worker_.lower_batch(batch, x_, y_, u_, out.lower_y, out.hessian, out.cross);
    return out;
  }
  /// The lower batch output by output, in every combination.
  void check_outputs(const Batch& batch) const {
    const Evaluated whole = this->batch(batch);
    for (int wanted = 0; wanted < 8; ++wanted) {
      CAPTURE(wanted);
      Evaluated out = blank();
      const auto keep = [&](int bit, std::vector<double>& vector) {
        vector.assign((wanted & bit) != 0 ? vector.size() : 0, 1e300);
      };
      keep(1, out.lower_y), keep(2, out.hessian), keep(4, out.cross);
      const double value = worker_.lower_batch(batch, x_, y_, u_, out.lower_y, out.hessian, out.cross);
      if (out.lower_y.empty())
        CHECK(value == 0);
      else
        CHECK(value == doctest::Approx(whole.lower).epsilon(1e-12));
      if (!out.lower_y.empty()) CHECK(relative_error(out.lower_y, whole.lower_y) < 1e-12);
      if (!out.hessian.empty()) CHECK(relative_error(out.hessian, whole.hessian) < 1e-12);
      if (!out.cross.empty()) CHECK(relative_error(out.cross, whole.cross) < 1e-12);
    }
  }

 private:
  WorkerObjective& worker_;
  std::vector<double> x_, y_, u_;
};

/// Batches of every kind whose mean over an epoch has to be the whole, and to differ from it one by one.
void check_epochs(const Problem& problem, const std::vector<std::size_t>& counts) {
  for (std::size_t i = 0; i < problem.num_workers(); ++i) {
    const AtPoint worker(problem, i);
    const Evaluated full = worker.full();
    CHECK(difference(worker.batch({}), full) == 0);
    for (const std::size_t count : counts) {
      CAPTURE(count);
      Evaluated mean = worker.blank();
      double furthest = 0;
      for (std::size_t index = 0; index < count; ++index) {
        const Evaluated batch = worker.batch({index, count});
        furthest = std::max(furthest, difference(batch, full));
        mean.add(1 / static_cast<double>(count), batch);
      }
      // Rounding of sums in another order.
      CHECK(difference(mean, full) < 1e-12);
      CHECK(furthest > 1e-3);
      worker.check_outputs({count - 1, count});
    }
  }
}

TuningShard tuning_shard(std::size_t rows, int classes, std::uint64_t seed) {
  return {.train = random_rows(rows, 9, classes, seed),
          .validation = random_rows(rows - 11, 9, classes, seed + 1)};
}

}  // namespace

TEST_CASE("batches: runs of consecutive samples that cover all, nearly equally") {
  for (const std::size_t samples : {1U, 7U, 64U, 1001U}) {
    for (std::size_t count = 1; count <= std::min<std::size_t>(samples, 70); ++count) {
      std::size_t end = 0;
      for (std::size_t index = 0; index < count; ++index) {
        const SampleRange range = Batch{index, count}.range(samples);
        REQUIRE(range.begin == end);
        REQUIRE(range.size() >= samples / count);
        REQUIRE(range.size() <= samples / count + 1);
        end = range.end;
      }
      REQUIRE(end == samples);
    }
  }
}

TEST_CASE("batches: those of an epoch average to the whole") {
  const LabelledRows train = random_rows(70, 9, 3, 1), validation = random_rows(41, 9, 3, 2);
  check_epochs(make_hyper_cleaning({{train, validation}, {validation, train}}, {.classes = 3}), {2, 7, 41});
  check_epochs(make_regularization_tuning({tuning_shard(70, 2, 3), tuning_shard(83, 2, 5)}, {}), {2, 5, 59});
  check_epochs(
      make_regularization_tuning({tuning_shard(70, 3, 3)}, {.model = TuningModel::kSoftmax, .classes = 3}),
      {2, 5, 59});
  for (const bool upper_uses_x : {true, false}) {
    check_epochs(make_quadratic({.upper_uses_x = upper_uses_x, .samples = 25, .sample_noise = 0.5}).problem,
                 {2, 8, 25});
  }
}

TEST_CASE("batches: one is the problem on its rows alone") {
  // 5 equal batches: the mean over a batch's rows is the estimate.
  const TuningShard shard{.train = random_rows(60, 9, 2, 3), .validation = random_rows(40, 9, 2, 4)};
  const TuningShard part{.train = slice(shard.train, 24, 12), .validation = slice(shard.validation, 16, 8)};
  const Problem whole = make_regularization_tuning({shard}, {}),
                alone = make_regularization_tuning({part}, {});
  CHECK(difference(AtPoint(whole, 0).batch({2, 5}), AtPoint(alone, 0).full()) < 1e-12);
}

TEST_CASE("batches: a cleaning worker's cross product stays on the batch's rows") {
  const LabelledRows train = random_rows(60, 9, 3, 1), validation = random_rows(41, 9, 3, 2);
  const Problem problem = make_hyper_cleaning({{train, validation}}, {.classes = 3});
  const AtPoint worker(problem, 0);
  const std::vector<double> cross = worker.batch({1, 4}).cross, full = worker.full().cross;
  for (std::size_t j = 0; j < cross.size(); ++j) {
    CHECK(cross[j] == doctest::Approx(j >= 15 && j < 30 ? 4 * full[j] : 0.0).epsilon(1e-12));
  }
}

TEST_CASE("batches: a quadratic instance is the same with and without samples") {
  const QuadraticInstance plain = make_quadratic({}), sampled = make_quadratic({.samples = 12});
  CHECK(sampled.upper_solution == plain.upper_solution);
  CHECK(sampled.lower_solution == plain.lower_solution);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(difference(AtPoint(sampled.problem, i).full(), AtPoint(plain.problem, i).full()) == 0);
    CHECK(sampled.problem.worker(i).sample_counts().lower == 12);
    CHECK(plain.problem.worker(i).sample_counts().lower == 0);
    // Without samples a batch is the whole.
    CHECK(difference(AtPoint(plain.problem, i).batch({1, 3}), AtPoint(plain.problem, i).full()) == 0);
  }
  CHECK_THROWS_AS(make_quadratic({.samples = 4, .sample_noise = 1}), std::invalid_argument);
}
