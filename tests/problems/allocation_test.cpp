// The engine calls an objective millions of times from its hot path: no call may allocate.

#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "adbo/problems/hyper_cleaning.h"
#include "adbo/problems/quadratic.h"
#include "adbo/problems/regularization_tuning.h"
#include "test_rows.h"

namespace {
std::atomic<std::int64_t> allocations{0};

void* count_and_allocate(std::size_t bytes, std::size_t alignment) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
}  // namespace

void* operator new(std::size_t bytes) { return count_and_allocate(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return count_and_allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace {

using adbo::test::random_point;
using adbo::test::random_rows;

/// Allocations of every call, each made twice, on an objective that has just been built.
std::int64_t allocations_of_calls(adbo::WorkerObjective& worker, std::size_t n, std::size_t m) {
  const std::vector<double> x = random_point(n, 1), y = random_point(m, 2), u = random_point(m, 3);
  std::vector<double> grad_x(worker.upper_depends_on_x() ? n : 0), grad_y(m), hessian(m), cross(n);
  const std::int64_t before = allocations.load();
  for (int round = 0; round < 2; ++round) {
    worker.upper(x, y, grad_x, grad_y);
    worker.lower(x, y, grad_y);
    worker.lower_hessian_product(x, y, u, hessian);
    worker.lower_cross_product(x, y, u, cross);
  }
  return allocations.load() - before;
}

/// The same of lower_fused(), with all outputs and with each one left out.
std::int64_t allocations_of_fused(adbo::WorkerObjective& worker, std::size_t n, std::size_t m) {
  const std::vector<double> x = random_point(n, 1), y = random_point(m, 2), u = random_point(m, 3);
  std::vector<double> grad_y(m), hessian(m), cross(n);
  const std::int64_t before = allocations.load();
  worker.lower_fused(x, y, u, grad_y, hessian, cross);
  worker.lower_fused(x, y, u, {}, hessian, cross);
  worker.lower_fused(x, y, u, grad_y, {}, cross);
  worker.lower_fused(x, y, u, grad_y, hessian, {});
  return allocations.load() - before;
}

TEST_CASE("the counter counts") {
  const std::int64_t before = allocations.load();
  const std::vector<double> memory(10);
  CHECK(allocations.load() == before + 1);
}

TEST_CASE("no call of an objective allocates") {
  const auto check = [](const adbo::Problem& problem, bool has_own_fused) {
    for (std::size_t i = 0; i < problem.num_workers(); ++i) {
      const std::size_t n = problem.support(i).size, m = problem.lower_dim();
      CHECK(allocations_of_calls(problem.worker(i), n, m) == 0);
      if (has_own_fused) CHECK(allocations_of_fused(problem.worker(i), n, m) == 0);
    }
  };
  const adbo::LabelledRows train = random_rows(70, 19, 3, 1), validation = random_rows(40, 19, 3, 2);
  const adbo::LabelledRows binary = random_rows(70, 19, 2, 3);
  check(adbo::make_hyper_cleaning({{train, validation}, {validation, train}}, {.classes = 3}), true);
  check(adbo::make_regularization_tuning({{train, validation}},
                                         {.model = adbo::TuningModel::kSoftmax, .classes = 3}),
        true);
  check(adbo::make_regularization_tuning({{binary, binary}}, {}), true);
  check(adbo::make_quadratic({.upper_dim = 30, .lower_dim = 40}).problem, false);
}

}  // namespace
