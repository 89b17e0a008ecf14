#include "protocol/active_set.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

using adbo::StateArchive;
using adbo::detail::ActiveSet;

namespace {

std::vector<std::size_t> finish(ActiveSet& set) {
  const auto members = set.finish();
  return {members.begin(), members.end()};
}

}  // namespace

TEST_CASE("active set: the first S arrivals complete it, in ascending order") {
  ActiveSet set(4, 2, 10);
  set.begin(0);
  CHECK_FALSE(set.complete());
  set.add(3);
  CHECK_FALSE(set.complete());
  set.add(1);
  CHECK(set.complete());
  CHECK(finish(set) == std::vector<std::size_t>{1, 3});
}

TEST_CASE("active set: nobody is silent for more than tau iterations") {
  constexpr std::int64_t kTau = 3;
  ActiveSet set(3, 1, kTau);
  // Worker 2 never comes by itself: it is awaited in iteration tau - 1 (it counts as last active at -1).
  for (std::int64_t t = 0; t < kTau - 1; ++t) {
    set.begin(t);
    set.add(t % 2 == 0 ? 0 : 1);
    CHECK(set.complete());
    set.finish();
    CHECK(set.longest_silence(t) == t + 1);
  }
  set.begin(kTau - 1);
  set.add(0);
  CHECK_FALSE(set.complete());
  set.add(2);
  CHECK(set.complete());
  set.finish();
  CHECK(set.longest_silence(kTau - 1) == 1);  // worker 1, one iteration ago
}

TEST_CASE("active set: with tau = 1 every iteration awaits everybody") {
  ActiveSet set(3, 1, 1);
  for (std::int64_t t = 0; t < 5; ++t) {
    set.begin(t);
    for (std::size_t worker = 0; worker < 3; ++worker) {
      CHECK_FALSE(set.complete());
      set.add(worker);
    }
    CHECK(set.complete());
    set.finish();
  }
}

TEST_CASE("active set: a restart counts as an answer of everybody") {
  ActiveSet set(3, 1, 4);
  set.begin(0);
  set.add(0);
  set.finish();
  set.mark_all(2);
  CHECK(set.longest_silence(2) == 0);
  set.begin(5);
  set.add(1);
  CHECK(set.complete());  // nobody is overdue before iteration 6
  set.finish();
  set.begin(6);
  set.add(1);
  CHECK_FALSE(set.complete());  // workers 0 and 2 are
}

TEST_CASE("active set: a worker that is dropped before anything is collected is not missed") {
  ActiveSet set(3, 2, 1);
  set.drop(1);
  std::vector<std::byte> image;
  StateArchive saved = StateArchive::saving_to(image);
  set.persist(saved);
  ActiveSet loaded(3, 2, 1);
  StateArchive archive = StateArchive::loading_from(image);
  loaded.persist(archive);
  CHECK(loaded.is_dropped(1));
  loaded.begin(0);
  loaded.add(0);
  CHECK_FALSE(loaded.complete());
  loaded.add(2);
  CHECK(loaded.complete());
}
