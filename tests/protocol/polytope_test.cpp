#include "methods/adbo/polytope.h"

#include <doctest/doctest.h>

#include <vector>

using namespace adbo::detail;
using adbo::DropRule;

namespace {

constexpr std::size_t kUpper = 2, kLower = 3, kWorkers = 2;

struct Fixture {
  CutPool pool{kUpper, kLower, kWorkers};
  Polytope polytope{pool, kWorkers, 3};
  std::int64_t born = 0;

  Cut& add() {
    Cut& cut = pool.take();
    cut.serial = born++;
    for (std::size_t i = 0; i < kWorkers; ++i)
      cut.lower_local[i].assign(kLower, static_cast<double>(cut.serial + 1));
    const std::vector<double> products{10.0 * static_cast<double>(cut.serial), 1.0};
    polytope.add(cut, products);
    return cut;
  }
};

}  // namespace

TEST_CASE_FIXTURE(
    Fixture, "polytope: a multiplier that is zero twice drops its cut, once does not, nor before any step") {
  add();
  add();
  CHECK(polytope.drop_inactive(DropRule::kTwiceZero) == 0);  // no step has seen them
  polytope.set_multiplier(0, 0);
  polytope.set_multiplier(1, 2);
  polytope.set_multiplier(1, 0);  // zero for the first time
  CHECK(polytope.drop_inactive(DropRule::kTwiceZero) == 1);
  REQUIRE(polytope.size() == 1);
  CHECK(polytope.cut(0).serial == 1);
  polytope.set_multiplier(0, 0);
  CHECK(polytope.drop_inactive(DropRule::kTwiceZero) == 1);
  CHECK(polytope.size() == 0);
}

TEST_CASE_FIXTURE(Fixture, "polytope: the threshold rule of the published code") {
  add();
  add();
  polytope.set_multiplier(0, 1e-11);
  polytope.set_multiplier(1, 1e-9);
  CHECK(polytope.drop_inactive(DropRule::kBelowThreshold) == 1);
  CHECK(polytope.cut(0).serial == 1);
}

TEST_CASE_FIXTURE(Fixture, "polytope: when full the smallest multiplier goes, of equals the oldest") {
  for (int k = 0; k < 3; ++k) add();
  CHECK(polytope.evict_if_full() == 1);  // all zero: the oldest
  CHECK(polytope.cut(0).serial == 1);
  CHECK(polytope.evict_if_full() == 0);  // there is room now
  add();
  polytope.set_multiplier(0, 3);
  polytope.set_multiplier(1, 1);
  polytope.set_multiplier(2, 2);
  CHECK(polytope.evict_if_full() == 1);
  CHECK(polytope.cut(0).serial == 1);
  CHECK(polytope.cut(1).serial == 3);
}

TEST_CASE_FIXTURE(
    Fixture,
    "polytope: products come from the message, or are computed where the worker did not know a cut") {
  add();  // 0
  add();  // 1
  add();  // 2
  CHECK(polytope.local_product(1) == 11);
  UpdateMessage update;
  update.lower_local = {1, 1, 1};
  update.cut_serial = {0, 2};  // it knew 0 and 2 (and perhaps others that are gone)
  update.cut_product = {7, 8};
  polytope.absorb(0, update);
  CHECK(polytope.local_product(0) == 7 + 1);
  CHECK(polytope.local_product(1) == 6 + 1);  // (2, 2, 2) . (1, 1, 1)
  CHECK(polytope.local_product(2) == 8 + 1);
}

TEST_CASE_FIXTURE(Fixture, "cut pool: a cut is used again only when neither polytope nor snapshot holds it") {
  Cut& first = add();
  Snapshot snapshot;
  polytope.pin_into(snapshot);
  polytope.set_multiplier(0, 0);
  CHECK(polytope.drop_inactive(DropRule::kTwiceZero) == 1);
  Cut& second = pool.take();
  CHECK(&second != &first);
  pool.unpin(*snapshot.cuts[0]);
  Cut& third = pool.take();
  CHECK(&third == &first);
}
