// What a contribution that was computed at an old (v, y-hat, q) is worth at the present one.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "adbo/adbo.h"
#include "methods/async_hypergradient/hypergradient_worker.h"
#include "methods/running_estimates/contribution_form.h"
#include "methods/running_estimates/running_estimates.h"
#include "problems/test_rows.h"
#include "support/shared_ridge.h"
#include "support/solver_checks.h"

using namespace adbo;
using adbo::detail::ContributionForm;
using adbo::test::make_shared_ridge;
using adbo::test::random_point;
using adbo::test::Told;

namespace {

/// The workers of a problem, whose answers are the states.
class Workers final : public detail::WorkerStates {
 public:
  explicit Workers(const Problem& problem) : messages_(problem.num_workers()) {
    const detail::CurvaturePlan plan(problem);
    for (std::size_t i = 0; i < problem.num_workers(); ++i) {
      programs_.push_back(std::make_unique<detail::HypergradientWorker>(problem, i, plan));
      programs_[i]->size(messages_[i]);
    }
  }
  /// The worker answers to a broadcast of (v, y-hat, q).
  void ask(std::size_t worker, std::vector<double> v, std::vector<double> y, std::vector<double> q) {
    detail::Snapshot snapshot;
    snapshot.upper_consensus = std::move(v);
    snapshot.lower_consensus = std::move(y);
    snapshot.lower_adjoint = std::move(q);
    detail::Request request;
    programs_[worker]->step(request, snapshot, {}, messages_[worker]);
  }
  [[nodiscard]] const detail::UpdateMessage& state(std::size_t worker) const override {
    return messages_[worker];
  }

 private:
  std::vector<std::unique_ptr<detail::HypergradientWorker>> programs_;
  std::vector<detail::UpdateMessage> messages_;
};

void start_at(Problem& problem, std::vector<double> y) {
  StartPoint start;
  start.lower = std::move(y);
  problem.set_start(std::move(start));
}

struct Residuals {
  std::vector<double> lower, adjoint;
};

/// The workers' means of grad_y g_i and of (d2 g_i/dy dy) q - s at (v, y, q).
Residuals fresh_residuals(const Problem& problem, const std::vector<double>& v, const std::vector<double>& y,
                          const std::vector<double>& q, const std::vector<double>& s) {
  const std::size_t m = problem.lower_dim();
  std::vector<double> gradient(m), product(m);
  Residuals mean{std::vector<double>(m), std::vector<double>(m)};
  for (std::size_t i = 0; i < problem.num_workers(); ++i) {
    problem.worker(i).lower(v, y, gradient);
    problem.worker(i).lower_hessian_product(v, y, q, product);
    for (std::size_t k = 0; k < m; ++k) {
      mean.lower[k] += gradient[k] / static_cast<double>(problem.num_workers());
      mean.adjoint[k] += (product[k] - s[k]) / static_cast<double>(problem.num_workers());
    }
  }
  return mean;
}

/// Largest difference between what the estimates make of the table and the fresh residuals, after two answers
/// of every worker at y and q within about `distance` of each other and at any v.
struct Errors {
  double lower = 0, adjoint = 0;
};
Errors errors_of_late_contributions(Problem& problem, double distance, bool is_quadratic = false) {
  const std::size_t n = problem.upper_dim(), m = problem.lower_dim();
  start_at(problem, random_point(m, 40, distance));
  detail::RunningEstimates estimates(problem, detail::contribution_form(problem));
  Workers workers(problem);
  const std::vector<double> s = random_point(m, 41);
  std::vector<std::size_t> everybody;
  for (std::size_t i = 0; i < problem.num_workers(); ++i) everybody.push_back(i);
  for (std::uint64_t round = 0; round < 2; ++round) {
    for (const std::size_t i : everybody) {
      const std::uint64_t seed = 100 * round + 3 * i;
      workers.ask(i, random_point(n, 50 + i), random_point(m, 51 + seed, distance),
                  random_point(m, 52 + seed, distance));
    }
    estimates.absorb(everybody, workers);
  }
  if (!is_quadratic) REQUIRE_FALSE(workers.state(0).has_curvature);  // the block is the first answer's
  Errors errors;
  const auto compare = [&](const std::vector<double>& v) {
    estimates.sum(workers, v, s, 0);
    const Residuals fresh = fresh_residuals(problem, v, estimates.lower(), estimates.adjoint(), s);
    for (std::size_t k = 0; k < m; ++k) {
      errors.lower = std::max(errors.lower, std::abs(estimates.lower_residual()[k] - fresh.lower[k]));
      errors.adjoint = std::max(errors.adjoint, std::abs(estimates.adjoint_residual()[k] - fresh.adjoint[k]));
    }
  };
  compare(random_point(n, 42));
  estimates.improve(3);
  if (is_quadratic) compare(random_point(n, 43));  // far away
  return errors;
}

TuningSettings settings_of(TuningModel model) {
  return {.model = model, .classes = model == TuningModel::kSoftmax ? 3 : 2};
}

/// So many that a block is not sent with every answer.
constexpr std::size_t kFeatures = 24;

Problem make_tuning(TuningModel model) {
  const TuningSettings settings = settings_of(model);
  std::vector<TuningShard> shards;
  for (std::uint64_t i = 0; i < 3; ++i) {
    shards.push_back({test::random_rows(60, kFeatures, settings.classes, 60 + i),
                      test::random_rows(10, kFeatures, settings.classes, 70 + i)});
  }
  return make_regularization_tuning(shards, settings);
}

}  // namespace

TEST_CASE(
    "late contributions: the form follows from the common term and from what is told of the curvature") {
  CHECK(detail::contribution_form(make_quadratic({}).problem) == ContributionForm::kWhole);
  CHECK(detail::contribution_form(make_shared_ridge(4, 2, Told::kNothing)) == ContributionForm::kWhole);
  CHECK(detail::contribution_form(make_shared_ridge(4, 2, Told::kDiagonal)) == ContributionForm::kWhole);
  CHECK(detail::contribution_form(make_shared_ridge(4, 2, Told::kBlock)) == ContributionForm::kAffine);
  CHECK(detail::contribution_form(make_tuning(TuningModel::kLogistic)) == ContributionForm::kAffine);
}

TEST_CASE("late contributions: with quadratic data terms they are the fresh ones") {
  Problem problem = make_shared_ridge(5, 3, Told::kBlock);
  const Errors errors = errors_of_late_contributions(problem, 1, true);
  CHECK(errors.lower < 1e-12);
  CHECK(errors.adjoint < 1e-12);
}

TEST_CASE("late contributions: of logistic regression, an error of second order in the distance") {
  Problem problem = make_tuning(TuningModel::kLogistic);
  const Errors wide = errors_of_late_contributions(problem, 0.1);
  const Errors narrow = errors_of_late_contributions(problem, 0.01);
  CHECK(wide.lower < 1e-1);
  CHECK(narrow.lower < wide.lower / 50);  // 1 / 100 but for terms of third order
  CHECK(narrow.adjoint < wide.adjoint / 50);
}

TEST_CASE("late contributions: the hypergradient's common part is that of the present point") {
  Problem problem = make_shared_ridge(4, 2, Told::kBlock);
  start_at(problem, random_point(4, 1));
  detail::RunningEstimates estimates(problem, ContributionForm::kAffine);
  Workers workers(problem);
  const std::vector<double> v = random_point(4, 2);
  for (const std::size_t i : {0U, 1U}) workers.ask(i, random_point(4, 5 + i), random_point(4, 7), v);
  const std::vector<std::size_t> everybody{0, 1};
  estimates.absorb(everybody, workers);
  estimates.sum(workers, v, random_point(4, 3), 0);
  estimates.improve(3);
  std::vector<double> direction(4), expected(4);
  estimates.subtract_common_cross(v, direction);
  test::RidgeTerm().cross_product(v, estimates.lower(), estimates.adjoint(), expected);
  for (std::size_t k = 0; k < 4; ++k) CHECK(direction[k] == -expected[k]);
  // The workers send grad_x G_i and nothing of the cross product.
  const std::vector<double> asked_at = random_point(4, 5);
  for (std::size_t k = 0; k < 4; ++k) CHECK(workers.state(0).upper_direction[k] == asked_at[k] / 10);
}
