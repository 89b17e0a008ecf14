// The hot path allocates nothing: counted by a global operator new of our own.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "concurrency/doorbell.h"
#include "concurrency/snapshot_domain.h"
#include "concurrency/spsc_ring.h"

namespace {

std::uint64_t allocations = 0;  // this executable has one thread

void* count_and_allocate(std::size_t bytes, std::size_t alignment) {
  ++allocations;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

struct Buffer {
  std::vector<double> values = std::vector<double>(100);
};

}  // namespace

void* operator new(std::size_t bytes) { return count_and_allocate(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return count_and_allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

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
  const std::uint64_t before = allocations;
  REQUIRE(before > 0);  // the counter counts
  double total = 0.0;
  for (int i = 0; i < 1000; ++i) total += iterate(1.0);
  const std::uint64_t after = allocations;
  CHECK(after == before);
  CHECK(total == 3000.0);  // exact: a sum of ones
}
