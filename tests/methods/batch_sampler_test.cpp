#include "methods/synchronous/batch_sampler.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "adbo/problems/quadratic.h"

using adbo::Batch;
using adbo::detail::BatchSampler;

namespace {

adbo::QuadraticInstance instance_of(std::size_t samples) {
  return adbo::make_quadratic({.num_workers = 3, .samples = samples});
}

}  // namespace

TEST_CASE("batch sampler: batches of at most batch_rows samples; 0 or enough rows give the whole") {
  const adbo::QuadraticInstance sampled = instance_of(25), plain = instance_of(0);
  const auto count = [](const adbo::QuadraticInstance& instance, std::int64_t rows) {
    return BatchSampler(instance.problem, 1, rows).lower_count(2);
  };
  CHECK(count(sampled, 0) == 1);
  CHECK(count(sampled, 1) == 25);
  CHECK(count(sampled, 8) == 4);
  CHECK(count(sampled, 12) == 3);
  CHECK(count(sampled, 13) == 2);
  CHECK(count(sampled, 25) == 1);
  CHECK(count(sampled, 1000) == 1);
  CHECK(count(plain, 8) == 1);
  CHECK(BatchSampler(plain.problem, 1, 8).is_exact());
  CHECK(BatchSampler(sampled.problem, 1, 0).is_exact());
  CHECK_FALSE(BatchSampler(sampled.problem, 1, 8).is_exact());
}

TEST_CASE("batch sampler: a draw is a function of seed, worker, level and number") {
  const adbo::QuadraticInstance instance = instance_of(64);
  const BatchSampler sampler(instance.problem, 7, 1), same(instance.problem, 7, 1),
      other(instance.problem, 8, 1);
  std::int64_t equal_seed = 0, equal_worker = 0, equal_level = 0;
  for (std::uint64_t draw = 1000; draw-- > 0;) {
    const std::size_t index = sampler.lower(1, {.lower = draw}).index;
    CHECK(same.lower(1, {.lower = draw}).index == index);
    equal_seed += other.lower(1, {.lower = draw}).index == index;
    equal_worker += sampler.lower(2, {.lower = draw}).index == index;
    equal_level += sampler.upper(1, {.upper = draw}).index == index;
  }
  // Independent draws of 64 agree in 1000/64 = 16 of 1000, with deviation 4.
  for (const std::int64_t equal : {equal_seed, equal_worker, equal_level}) {
    CHECK(equal > 0);
    CHECK(equal < 36);
  }
}

TEST_CASE("batch sampler: every batch is as likely as any other") {
  const adbo::QuadraticInstance instance = instance_of(10);
  const BatchSampler sampler(instance.problem, 3, 1);
  constexpr std::uint64_t kDraws = 20000;
  std::vector<double> seen(10, 0.0);
  for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
    const Batch batch = sampler.upper(0, {.upper = draw});
    REQUIRE(batch.count == 10);
    REQUIRE(batch.index < 10);
    seen[batch.index] += 1;
  }
  // Expected 2000 with deviation 42; 5 deviations.
  for (const double times : seen) CHECK(times == doctest::Approx(2000).epsilon(0.105));
}

TEST_CASE("batch sampler: draws in order pass over all batches") {
  const adbo::QuadraticInstance instance = instance_of(10);
  const BatchSampler sampler(instance.problem, 3, 4);
  for (std::uint64_t draw = 0; draw < 7; ++draw) {
    CHECK(sampler.lower(1, {.lower = draw, .in_order = true}).index == draw % 3);
    CHECK(sampler.upper(1, {.upper = draw, .in_order = true}).index == draw % 3);
  }
}
