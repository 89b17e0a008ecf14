// The engine calls an objective millions of times from its hot path: no call may allocate.

#include <doctest/doctest.h>

#include <cstdint>

#include "adbo/problems/hyper_cleaning.h"
#include "adbo/problems/quadratic.h"
#include "adbo/problems/regularization_tuning.h"
#include "support/allocation_counter.h"
#include "test_rows.h"

namespace {

using adbo::test::random_point;
using adbo::test::random_rows;
using adbo::test::thread_allocations;

/// Allocations of every call, each made twice, on an objective that has just been built.
std::uint64_t allocations_of_calls(adbo::WorkerObjective& worker, std::size_t n, std::size_t m) {
  const std::vector<double> x = random_point(n, 1), y = random_point(m, 2), u = random_point(m, 3);
  std::vector<double> grad_x(worker.upper_depends_on_x() ? n : 0), grad_y(m), hessian(m), cross(n);
  const std::uint64_t before = thread_allocations();
  for (int round = 0; round < 2; ++round) {
    worker.upper(x, y, grad_x, grad_y);
    worker.lower(x, y, grad_y);
    worker.lower_hessian_product(x, y, u, hessian);
    worker.lower_cross_product(x, y, u, cross);
  }
  return thread_allocations() - before;
}

/// The same of lower_fused(), with all outputs and with each one left out.
std::uint64_t allocations_of_fused(adbo::WorkerObjective& worker, std::size_t n, std::size_t m) {
  const std::vector<double> x = random_point(n, 1), y = random_point(m, 2), u = random_point(m, 3);
  std::vector<double> grad_y(m), hessian(m), cross(n);
  const std::uint64_t before = thread_allocations();
  worker.lower_fused(x, y, u, grad_y, hessian, cross);
  worker.lower_fused(x, y, u, {}, hessian, cross);
  worker.lower_fused(x, y, u, grad_y, {}, cross);
  worker.lower_fused(x, y, u, grad_y, hessian, {});
  return thread_allocations() - before;
}

/// The same of evaluations of a mini-batch.
std::uint64_t allocations_of_batches(adbo::WorkerObjective& worker, std::size_t n, std::size_t m) {
  const std::vector<double> x = random_point(n, 1), y = random_point(m, 2), u = random_point(m, 3);
  std::vector<double> grad_x(worker.upper_depends_on_x() ? n : 0), grad_y(m), hessian(m), cross(n);
  const std::uint64_t before = thread_allocations();
  for (const adbo::Batch batch : {adbo::Batch{0, 3}, adbo::Batch{2, 3}}) {
    worker.upper_batch(batch, x, y, grad_x, grad_y);
    worker.lower_batch(batch, x, y, u, grad_y, hessian, cross);
    worker.lower_batch(batch, x, y, u, {}, hessian, {});
    worker.lower_batch(batch, x, y, u, {}, {}, cross);
    worker.lower_batch(batch, x, y, u, grad_y, {}, {});
  }
  return thread_allocations() - before;
}

TEST_CASE("the counter counts") {
  const std::uint64_t before = thread_allocations();
  const std::vector<double> memory(10);
  CHECK(thread_allocations() == before + 1);
}

TEST_CASE("no call of an objective allocates") {
  const auto check = [](const adbo::Problem& problem, bool has_own_fused) {
    for (std::size_t i = 0; i < problem.num_workers(); ++i) {
      const std::size_t n = problem.support(i).size, m = problem.lower_dim();
      CHECK(allocations_of_calls(problem.worker(i), n, m) == 0);
      if (has_own_fused) CHECK(allocations_of_fused(problem.worker(i), n, m) == 0);
      CHECK(allocations_of_batches(problem.worker(i), n, m) == 0);
    }
  };
  const adbo::LabelledRows train = random_rows(70, 19, 3, 1), validation = random_rows(40, 19, 3, 2);
  const adbo::LabelledRows binary = random_rows(70, 19, 2, 3);
  check(adbo::make_hyper_cleaning({{train, validation}, {validation, train}}, {.classes = 3}), true);
  check(adbo::make_regularization_tuning({{train, validation}},
                                         {.model = adbo::TuningModel::kSoftmax, .classes = 3}),
        true);
  check(adbo::make_regularization_tuning({{binary, binary}}, {}), true);
  check(adbo::make_quadratic({.upper_dim = 30, .lower_dim = 40, .samples = 7}).problem, false);
}

}  // namespace
