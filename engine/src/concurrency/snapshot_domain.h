#pragma once

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "concurrency/cache_line.h"
#include "concurrency/memory_orders.h"
#include "concurrency/yield_point.h"

namespace adbo::detail {

/// Immutable snapshots, published by one writer (the master) to a fixed number of readers (the workers), and
/// used again once nobody can be reading them any more: read-copy-update, where a reader's arrival message is
/// its quiescent state.
///
///   master:  fill draft() ── publish() ── hand_to(i) ──(E3)──► reader i: read(i) ... compute ... send
///   message master:  takes the message of reader i (E1) ── arrived(i) ── perhaps reclaims what reader i had
///
/// Reader i sees the very snapshot that was current at hand_to(i), however many are published while it
/// computes. What a step reads thus depends on the order of the master's calls alone, not on the threads'
/// speed. And everything the master wrote before hand_to(i) is visible after read(i): it is the edge over
/// which a request to a worker passes.
///
/// Reclamation. A retired snapshot may be used again when the set of readers inside it is empty. A reader is
/// inside at most one snapshot: it enters at hand_to() and leaves at arrived(), both called by the master,
/// which notes the snapshot per reader. The sets are therefore the classes of one function reader ->
/// snapshot; arrived(i) takes i out of the class it is known to be in, never twice (the note is cleared), and
/// so a set is empty exactly when the *count* of its members is zero. The count replaces the set.
///
/// At most readers + 2 objects exist (one per reader, the current one, the draft). They are made on demand by
/// the factory and never destroyed before the domain, so that after a warm-up nothing is allocated.
///
/// Threads: everything is the master's except read() and try_read(). The atomics are the readers' pointers
/// alone. The domain must outlive the readers' steps.
template <class Snapshot>
class SnapshotDomain {
 public:
  using Factory = std::function<std::unique_ptr<Snapshot>()>;
  using Reclaimer = std::function<void(Snapshot&)>;

  /// `make` gives a new blank snapshot (not null). `on_reclaim`, if any, is called with each published
  /// snapshot once no reader can see it; it may alter the contents, but not call the domain.
  SnapshotDomain(std::size_t readers, Factory make, Reclaimer on_reclaim = {})
      : make_(std::move(make)), on_reclaim_(std::move(on_reclaim)), slots_(readers), entries_(readers + 2) {
    free_.reserve(entries_.size());
  }
  SnapshotDomain(const SnapshotDomain&) = delete;
  SnapshotDomain& operator=(const SnapshotDomain&) = delete;

  std::size_t readers() const noexcept { return slots_.size(); }

  /// The snapshot to fill for the next publish(), the same one until then. A recycled object still has the
  /// contents and the buffers that it was reclaimed with.
  Snapshot& draft() {
    if (draft_ == nullptr) draft_ = blank();
    return *draft_->snapshot;
  }

  /// The draft becomes current, and what was current retires; it is reclaimed at once if no reader is inside.
  void publish() {
    assert(draft_ != nullptr && "publish() without a draft()");
    Entry* retired = std::exchange(current_, std::exchange(draft_, nullptr));
    ++published_;
    if (retired != nullptr && retired->readers_inside == 0) reclaim(*retired);
    max_alive_ = std::max(max_alive_, alive());
  }

  /// Reader `reader` may read() the current snapshot from now on. It must not be inside one.
  void hand_to(std::size_t reader) noexcept {
    assert(reader < slots_.size() && current_ != nullptr);
    ReaderSlot& slot = slots_[reader];
    assert(slot.inside == nullptr && "hand_to() a reader that has not arrived");
    slot.inside = current_;
    ++current_->readers_inside;
    ADBO_YIELD_POINT();
    slot.handed.store(current_->snapshot.get(), order::kE3Release);  // (E3)
    ADBO_YIELD_POINT();
  }

  /// The reader's thread, between hand_to(reader) and its arrival message: the snapshot that it was handed.
  [[nodiscard]] const Snapshot& read(std::size_t reader) const noexcept {
    const Snapshot* handed = try_read(reader);
    assert(handed != nullptr && "read() outside of a step");
    return *handed;
  }

  /// As read(), but nullptr when the reader is not inside a snapshot.
  [[nodiscard]] const Snapshot* try_read(std::size_t reader) const noexcept {
    assert(reader < slots_.size());
    ADBO_YIELD_POINT();
    return slots_[reader].handed.load(order::kE3Acquire);  // (E3)
  }

  /// The master has taken the message that ended the reader's step (over an edge like E1: the reader's reads
  /// happen before this call). The reader is outside from now on.
  void arrived(std::size_t reader) {
    assert(reader < slots_.size());
    ReaderSlot& slot = slots_[reader];
    assert(slot.inside != nullptr && "arrived() without hand_to()");
    // A late read() then faults instead of seeing recycled contents. Nobody may be reading the pointer now,
    // and the next hand_to() orders the next read, so relaxed is enough.
    slot.handed.store(nullptr, std::memory_order_relaxed);
    Entry* left = std::exchange(slot.inside, nullptr);
    if (--left->readers_inside == 0 && left != current_) reclaim(*left);
  }

  /// The snapshot published last. There must be one.
  [[nodiscard]] const Snapshot& current() const noexcept {
    assert(current_ != nullptr);
    return *current_->snapshot;
  }

  /// Whether anything was published.
  bool has_current() const noexcept { return current_ != nullptr; }

  /// Calls of publish() so far; published() == reclaimed() + alive().
  std::uint64_t published() const noexcept { return published_; }
  std::uint64_t reclaimed() const noexcept { return reclaimed_; }
  /// Snapshots that are current or that a reader may be inside.
  std::uint64_t alive() const noexcept { return published_ - reclaimed_; }
  /// The largest alive() that a publish() left, at most readers() + 1.
  std::uint64_t max_alive() const noexcept { return max_alive_; }
  /// Objects that the factory made, at most readers() + 2.
  std::size_t objects() const noexcept { return objects_; }

 private:
  struct Entry {
    std::unique_ptr<Snapshot> snapshot;
    std::size_t readers_inside = 0;
  };

  // One line per reader, both members written by the master: `handed` for the reader, `inside` for itself.
  struct alignas(kCacheLine) ReaderSlot {
    std::atomic<const Snapshot*> handed{nullptr};
    Entry* inside = nullptr;
  };
  static_assert(sizeof(ReaderSlot) == kCacheLine && alignof(ReaderSlot) == kCacheLine);
  static_assert(std::atomic<const Snapshot*>::is_always_lock_free);

  Entry* blank() {
    if (!free_.empty()) {
      Entry* entry = free_.back();
      free_.pop_back();
      return entry;
    }
    assert(objects_ < entries_.size());
    Entry& entry = entries_[objects_];
    entry.snapshot = make_();
    assert(entry.snapshot != nullptr);
    ++objects_;
    return &entry;
  }

  void reclaim(Entry& entry) {
    assert(entry.readers_inside == 0 && &entry != current_ && &entry != draft_);
    assert(std::find(free_.begin(), free_.end(), &entry) == free_.end() && "reclaimed twice");
    ++reclaimed_;
    ADBO_YIELD_POINT();
    if (on_reclaim_) on_reclaim_(*entry.snapshot);
    free_.push_back(&entry);
  }

  Factory make_;
  Reclaimer on_reclaim_;
  std::vector<ReaderSlot> slots_;
  std::vector<Entry> entries_;  // never resized: the pointers below and in the slots are into it
  std::vector<Entry*> free_;
  Entry* current_ = nullptr;
  Entry* draft_ = nullptr;
  std::size_t objects_ = 0;
  std::uint64_t published_ = 0;
  std::uint64_t reclaimed_ = 0;
  std::uint64_t max_alive_ = 0;
};

}  // namespace adbo::detail
