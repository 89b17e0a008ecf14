#include "concurrency/snapshot_domain.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

namespace {

struct Snapshot {
  int version = -1;
};

// A domain of plain versions that notes what was reclaimed, in order.
struct Fixture {
  explicit Fixture(std::size_t readers)
      : domain(
            readers,
            [this] {
              ++made;
              return std::make_unique<Snapshot>();
            },
            [this](Snapshot& snapshot) { reclaimed.push_back(snapshot.version); }) {}

  void publish(int version) {
    domain.draft().version = version;
    domain.publish();
  }

  int made = 0;
  std::vector<int> reclaimed;
  adbo::detail::SnapshotDomain<Snapshot> domain;
};

using Versions = std::vector<int>;

}  // namespace

TEST_CASE("a new domain has nothing") {
  Fixture fixture(3);
  CHECK(fixture.domain.readers() == 3);
  CHECK_FALSE(fixture.domain.has_current());
  CHECK(fixture.domain.published() == 0);
  CHECK(fixture.domain.alive() == 0);
  CHECK(fixture.domain.try_read(2) == nullptr);
  CHECK(fixture.made == 0);
}

TEST_CASE("the draft stays the same object until it is published, and is current then") {
  Fixture fixture(1);
  Snapshot* draft = &fixture.domain.draft();
  CHECK(&fixture.domain.draft() == draft);
  draft->version = 1;
  fixture.domain.publish();
  CHECK(&fixture.domain.current() == draft);
  CHECK(fixture.domain.current().version == 1);
  CHECK(&fixture.domain.draft() != draft);
}

TEST_CASE("a retired snapshot without readers is reclaimed at once, and its object is the next draft") {
  Fixture fixture(1);
  fixture.publish(1);
  const Snapshot* first = &fixture.domain.current();
  fixture.publish(2);
  CHECK(fixture.reclaimed == Versions{1});
  CHECK(&fixture.domain.draft() == first);
  CHECK(fixture.domain.draft().version == 1);  // as it was reclaimed
  CHECK(fixture.domain.alive() == 1);
}

TEST_CASE("a reader keeps what it was handed, however many are published meanwhile") {
  Fixture fixture(2);
  fixture.publish(1);
  fixture.domain.hand_to(0);
  fixture.publish(2);
  fixture.publish(3);
  CHECK(fixture.domain.read(0).version == 1);
  CHECK(fixture.reclaimed == Versions{2});
  fixture.domain.hand_to(1);
  CHECK(fixture.domain.read(1).version == 3);
  fixture.domain.arrived(0);
  CHECK(fixture.reclaimed == Versions{2, 1});
  CHECK(fixture.domain.try_read(0) == nullptr);
  fixture.domain.hand_to(0);
  CHECK(fixture.domain.read(0).version == 3);
}

TEST_CASE("the last of several readers lets the snapshot go") {
  Fixture fixture(3);
  fixture.publish(1);
  for (std::size_t reader = 0; reader < 3; ++reader) fixture.domain.hand_to(reader);
  fixture.publish(2);
  fixture.domain.arrived(1);
  fixture.domain.arrived(0);
  CHECK(fixture.reclaimed.empty());
  fixture.domain.arrived(2);
  CHECK(fixture.reclaimed == Versions{1});
}

TEST_CASE("the current snapshot is not reclaimed when its readers have left") {
  Fixture fixture(1);
  fixture.publish(1);
  for (int step = 0; step < 3; ++step) {
    fixture.domain.hand_to(0);
    CHECK(fixture.domain.read(0).version == 1);
    fixture.domain.arrived(0);
  }
  CHECK(fixture.reclaimed.empty());
  CHECK(fixture.domain.current().version == 1);
}

TEST_CASE("a reader inside does not keep an open draft from being filled") {
  Fixture fixture(1);
  fixture.publish(1);
  fixture.domain.hand_to(0);
  fixture.domain.draft().version = 2;
  CHECK(fixture.domain.read(0).version == 1);
  fixture.domain.arrived(0);
  CHECK(fixture.reclaimed.empty());
  CHECK(fixture.domain.current().version == 1);
}

TEST_CASE("readers + 2 objects are enough, and reached when each reader is in a snapshot of its own") {
  constexpr std::size_t kReaders = 4;
  Fixture fixture(kReaders);
  fixture.publish(0);
  for (std::size_t reader = 0; reader < kReaders; ++reader) {
    fixture.domain.hand_to(reader);
    fixture.publish(static_cast<int>(reader) + 1);
  }
  fixture.domain.draft();
  CHECK(fixture.made == kReaders + 2);
  CHECK(fixture.domain.objects() == kReaders + 2);
  CHECK(fixture.domain.alive() == kReaders + 1);
  CHECK(fixture.domain.max_alive() == kReaders + 1);
  for (int version = 100; version < 120; ++version) fixture.publish(version);
  CHECK(fixture.domain.objects() == kReaders + 2);
}

TEST_CASE("a domain works without a reclaimer and without readers") {
  adbo::detail::SnapshotDomain<Snapshot> domain(0, [] { return std::make_unique<Snapshot>(); });
  for (int version = 0; version < 5; ++version) {
    domain.draft().version = version;
    domain.publish();
    CHECK(domain.current().version == version);
  }
  CHECK(domain.reclaimed() == 4);
  CHECK(domain.objects() == 2);
}

TEST_CASE("a factory that throws leaves the domain usable") {
  bool fails = true;
  adbo::detail::SnapshotDomain<Snapshot> domain(1, [&fails] {
    if (fails) throw std::bad_alloc();
    return std::make_unique<Snapshot>();
  });
  CHECK_THROWS_AS(domain.draft(), std::bad_alloc);
  CHECK(domain.objects() == 0);
  fails = false;
  domain.draft().version = 1;
  domain.publish();
  CHECK(domain.current().version == 1);
}

TEST_CASE("random operations agree with sets of readers") {
  // The model is the definition: per version the set of readers inside, reclaimed when retired and empty.
  constexpr std::size_t kReaders = 5;
  Fixture fixture(kReaders);
  std::mt19937_64 random(20240607);
  std::vector<int> inside(kReaders, -1);  // version per reader, -1 outside
  std::vector<bool> expect_reclaimed;     // per version
  int current = -1;
  const auto is_empty = [&inside](int version) {
    for (const int other : inside) {
      if (other == version) return false;
    }
    return true;
  };
  const auto retire_if_free = [&](int version) {
    if (version >= 0 && version != current && is_empty(version)) {
      expect_reclaimed[static_cast<std::size_t>(version)] = true;
    }
  };
  for (int operation = 0; operation < 20000; ++operation) {
    const std::size_t reader = random() % kReaders;
    if (current < 0 || random() % 4 == 0) {
      const int retired = current++;
      fixture.publish(current);
      expect_reclaimed.push_back(false);
      retire_if_free(retired);
    } else if (inside[reader] < 0) {
      fixture.domain.hand_to(reader);
      inside[reader] = current;
    } else {
      REQUIRE(fixture.domain.read(reader).version == inside[reader]);
      const int left = inside[reader];
      inside[reader] = -1;
      fixture.domain.arrived(reader);
      retire_if_free(left);
    }
    REQUIRE(fixture.domain.published() == fixture.domain.reclaimed() + fixture.domain.alive());
    REQUIRE(fixture.domain.alive() <= kReaders + 1);
  }
  std::vector<int> times_reclaimed(expect_reclaimed.size(), 0);
  for (const int version : fixture.reclaimed) ++times_reclaimed[static_cast<std::size_t>(version)];
  for (std::size_t version = 0; version < expect_reclaimed.size(); ++version) {
    REQUIRE(times_reclaimed[version] == (expect_reclaimed[version] ? 1 : 0));
  }
  CHECK(fixture.made <= static_cast<int>(kReaders) + 2);
}
