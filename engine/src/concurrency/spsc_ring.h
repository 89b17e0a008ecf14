#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cassert>
#include <cstddef>

#include "concurrency/cache_line.h"
#include "concurrency/memory_orders.h"
#include "concurrency/yield_point.h"

namespace adbo::detail {

/// A bounded queue from one producer to one consumer whose slots are constructed once and used again and
/// again in place: the producer fills the slot it claimed, the consumer reads it where it lies. No copies, no
/// allocation, no locks, no waiting; each call is a bounded number of steps.
///
/// Two counters that only grow: `published` (written by the producer) and `released` (written by the
/// consumer). Slot k % kDepth belongs to the consumer while released <= k < published, else to the producer.
///
///   producer: write slot k ── published = k+1 ──(E1)──► consumer: read slot k
///   consumer: read slot k ── released = k+1 ──(E2)──► producer: write slot k (as message k + kDepth)
///
/// Threads: "the producer" is one thread at a time. The role may pass from a thread to another if the first
/// one's calls happen before the second one's (MEMORY_MODEL.md, T2 tells how the engine orders that). The
/// same holds for the consumer.
///
/// `Slot` must be default constructible; it is neither copied nor moved.
template <class Slot, std::size_t kDepth>
class SpscRing {
  static_assert(std::has_single_bit(kDepth), "the depth must be a power of two: a slot is found by masking");
  static_assert(kDepth >= 2, "last_published() and claim() must be different slots");

 public:
  SpscRing() = default;
  SpscRing(const SpscRing&) = delete;
  SpscRing& operator=(const SpscRing&) = delete;

  static constexpr std::size_t depth() noexcept { return kDepth; }

  /// Slot number `index` in [0, kDepth), for sizing its buffers before any thread uses the ring.
  Slot& slot_for_setup(std::size_t index) noexcept {
    assert(index < kDepth);
    return cells_[index].slot;
  }

  // ---- producer ----

  /// The next slot to fill, or nullptr when the consumer has all of them. Holds whatever was written there
  /// kDepth messages ago. Calling it again before publish() gives the same slot.
  [[nodiscard]] Slot* claim() noexcept {
    const std::size_t published = own(producer().published);
    if (published - producer().released_seen == kDepth) {
      producer().released_seen = consumer().released.load(order::kE2Acquire);  // (E2)
      if (published - producer().released_seen == kDepth) return nullptr;
    }
    ADBO_YIELD_POINT();
    return &cell(published).slot;
  }

  /// Gives the claimed slot to the consumer. A claim() that was not nullptr must come first.
  void publish() noexcept {
    const std::size_t published = own(producer().published);
    assert(published - producer().released_seen < kDepth && "publish() without a successful claim()");
    ADBO_YIELD_POINT();
    producer().published.store(published + 1, order::kE1Release);  // (E1)
    ADBO_YIELD_POINT();
  }

  /// The producer's own latest message, or nullptr before the first. It stays as it was published while the
  /// producer fills the next slot, whether or not the consumer has released it meanwhile: consumers never
  /// write into slots, and claim() gives another slot because kDepth >= 2. A worker finds its previous state
  /// here.
  [[nodiscard]] const Slot* last_published() const noexcept {
    const std::size_t published = own(producer().published);
    return published == 0 ? nullptr : &cell(published - 1).slot;
  }

  // ---- consumer ----

  /// Messages that are published and not released yet. Always asks the producer's counter: a consumer may
  /// keep its newest message (see release()) and still has to learn of the next one.
  [[nodiscard]] std::size_t available() const noexcept {
    ADBO_YIELD_POINT();
    consumer().published_seen = producer().published.load(order::kE1Acquire);  // (E1)
    return consumer().published_seen - own(consumer().released);
  }

  /// The k-th oldest message that is not released, 0 <= k < the value that available() gave last. The
  /// reference is good until that message is released.
  [[nodiscard]] const Slot& peek(std::size_t k) const noexcept {
    const std::size_t released = own(consumer().released);
    assert(k < consumer().published_seen - released && "peek() beyond what available() reported");
    return cell(released + k).slot;
  }

  /// Gives the `count` oldest messages back to the producer; count <= the value that available() gave last.
  /// Protocol of the engine: the master reads a worker's state in place at any time, so it does not release a
  /// worker's newest message before a newer one is there. That takes one slot more than there are messages in
  /// flight.
  void release(std::size_t count) noexcept {
    const std::size_t released = own(consumer().released);
    assert(count <= consumer().published_seen - released && "release() beyond what available() reported");
    ADBO_YIELD_POINT();
    consumer().released.store(released + count, order::kE2Release);  // (E2)
    ADBO_YIELD_POINT();
  }

 private:
  // Each side caches the other's counter, so that the producer touches the consumer's line only when the ring
  // looks full, and peek() and release() touch no line of the producer's but the slots.
  struct alignas(kCacheLine) ProducerSide {
    std::atomic<std::size_t> published{0};
    std::size_t released_seen = 0;
  };
  struct alignas(kCacheLine) ConsumerSide {
    std::atomic<std::size_t> released{0};
    std::size_t published_seen = 0;
  };
  struct Counters {
    ProducerSide producer;
    ConsumerSide consumer;
  };
  static_assert(offsetof(Counters, producer) == 0 && offsetof(Counters, consumer) == kCacheLine,
                "the two writers must not share a cache line");
  static_assert(sizeof(Counters) == 2 * kCacheLine, "nor share one with the slots");
  static_assert(std::atomic<std::size_t>::is_always_lock_free);

  // The producer fills a slot while the consumer reads its neighbour.
  struct alignas(kCacheLine) Cell {
    Slot slot{};
  };

  /// A counter read by its only writer.
  static std::size_t own(const std::atomic<std::size_t>& counter) noexcept {
    return counter.load(std::memory_order_relaxed);
  }

  ProducerSide& producer() const noexcept { return counters_.producer; }
  ConsumerSide& consumer() const noexcept { return counters_.consumer; }
  Cell& cell(std::size_t message) noexcept { return cells_[message & (kDepth - 1)]; }
  const Cell& cell(std::size_t message) const noexcept { return cells_[message & (kDepth - 1)]; }

  mutable Counters counters_;  // mutable: available() notes what it saw
  std::array<Cell, kDepth> cells_;
};

}  // namespace adbo::detail
