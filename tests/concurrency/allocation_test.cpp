#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "concurrency/doorbell.h"
#include "concurrency/snapshot_domain.h"
#include "concurrency/spsc_ring.h"
#include "support/allocation_counter.h"

namespace {

struct Buffer {
  std::vector<double> values = std::vector<double>(100);
};

}  // namespace

TEST_CASE("steps of master and worker allocate nothing after the warm-up") {
  constexpr std::size_t kReaders = 3;
  adbo::detail::SnapshotDomain<Buffer> domain(kReaders, [] { return std::make_unique<Buffer>(); });
  std::vector<adbo::detail::SpscRing<Buffer, 4>> rings(kReaders);
  adbo::detail::Doorbell bell;
  const auto iterate = [&](double value) {
    const std::uint32_t ticket = bell.ticket();
    for (std::size_t reader = 0; reader < kReaders; ++reader) {
      domain.draft().values.assign(100, value);
      domain.publish();
      domain.hand_to(reader);  // each reader in a snapshot of its own: the most objects there can be
    }
    domain.draft().values.assign(100, value);
    for (std::size_t reader = 0; reader < kReaders; ++reader) {
      Buffer* slot = rings[reader].claim();
      if (slot == nullptr) return -1.0;  // makes the total wrong
      slot->values = domain.read(reader).values;
      rings[reader].publish();
      bell.ring();
    }
    bell.wait(ticket);
    double sum = 0.0;
    for (std::size_t reader = 0; reader < kReaders; ++reader) {
      sum += rings[reader].available() == 1 ? rings[reader].peek(0).values.back() : 0.0;
      rings[reader].release(1);
      domain.arrived(reader);
    }
    domain.publish();
    return sum;
  };
  iterate(0.0);
  iterate(0.0);
  const std::uint64_t before = adbo::test::thread_allocations();
  REQUIRE(before > 0);  // the counter counts
  double total = 0.0;
  for (int i = 0; i < 1000; ++i) total += iterate(1.0);
  const std::uint64_t after = adbo::test::thread_allocations();
  CHECK(after == before);
  CHECK(total == 3000.0);  // exact: a sum of ones
}
