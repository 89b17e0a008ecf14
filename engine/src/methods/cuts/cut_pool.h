#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "adbo/state_archive.h"
#include "protocol/cut.h"
#include "protocol/messages.h"

namespace adbo::detail {

/// Cuts are big (N m numbers): they are made once and used again when neither the polytope nor a snapshot
/// holds them. The master's.
class CutPool {
 public:
  CutPool(std::size_t upper_dim, std::size_t lower_dim, std::size_t num_workers)
      : upper_dim_(upper_dim), lower_dim_(lower_dim), num_workers_(num_workers) {}

  /// A cut to build, pinned once.
  [[nodiscard]] Cut& take();
  static void pin(Cut& cut) { ++cut.pins; }
  void unpin(Cut& cut);
  /// Unpins the cuts of a snapshot that no worker can read any more.
  void release(Snapshot& snapshot);

 private:
  std::size_t upper_dim_, lower_dim_, num_workers_;
  std::vector<std::unique_ptr<Cut>> all_;
  std::vector<Cut*> free_;
};

/// Copies the cuts and multipliers of `members` (with `cut` and `multiplier`) into a snapshot and pins the
/// cuts for it.
template <class Members>
void pin_cuts(const Members& members, Snapshot& snapshot) {
  snapshot.cuts.clear();
  snapshot.cut_multiplier.clear();
  for (const auto& member : members) {
    CutPool::pin(*member.cut);
    snapshot.cuts.push_back(member.cut);
    snapshot.cut_multiplier.push_back(member.multiplier);
  }
}

/// Carries the cuts of `members`, at most `most`, and makes members for those that are loaded.
template <class Member>
void persist_cuts(StateArchive& archive, CutPool& pool, std::size_t most, std::vector<Member>& members) {
  std::size_t count = members.size();
  archive(count);
  if (count > most) throw BadState("a polytope of " + std::to_string(count) + " cuts");
  for (std::size_t l = 0; l < count; ++l) {
    if (archive.is_loading()) {
      Member member;
      member.cut = &pool.take();
      members.push_back(std::move(member));
    }
    archive(*members[l].cut);
  }
}

/// Finds cuts among those that a worker knew when it made its update. Serials ascend on both sides.
class KnownCuts {
 public:
  explicit KnownCuts(const UpdateMessage& update) : serials_(update.cut_serial) {}
  /// The cut's place in the update's lists, if the worker knew it; to be asked in ascending order.
  [[nodiscard]] std::optional<std::size_t> find(const Cut& cut) {
    while (next_ < serials_.size() && serials_[next_] < cut.serial) ++next_;
    if (next_ == serials_.size() || serials_[next_] != cut.serial) return std::nullopt;
    return next_;
  }

 private:
  const std::vector<std::int64_t>& serials_;
  std::size_t next_ = 0;
};

}  // namespace adbo::detail
