#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "adbo/options.h"
#include "adbo/state_archive.h"
#include "methods/cuts/cut_pool.h"

namespace adbo::detail {

/// The polytope P^t with its multipliers, in order of birth. The master's.
class Polytope {
 public:
  Polytope(CutPool& pool, std::size_t num_workers, std::size_t max_cuts);

  [[nodiscard]] std::size_t size() const { return members_.size(); }
  [[nodiscard]] Cut& cut(std::size_t l) const { return *members_[l].cut; }
  [[nodiscard]] double multiplier(std::size_t l) const { return members_[l].multiplier; }
  /// sum_i b_il . y_i over the accepted states.
  [[nodiscard]] double local_product(std::size_t l) const;

  /// A new master step's multiplier; remembers the one before it for the drop rule.
  void set_multiplier(std::size_t l, double value);
  /// Takes over what a worker's update says of b_il . y_i, and computes it for the cuts the worker did not
  /// know.
  void absorb(std::size_t worker, const UpdateMessage& update);

  /// 97_new_35, 97_new_36; the number of cuts that went.
  std::size_t drop_inactive(DropRule rule);
  /// Drops every cut; how many went.
  std::size_t drop_all();
  /// Makes room for one more: the smallest multiplier goes, the oldest of equals. The number of cuts that
  /// went.
  std::size_t evict_if_full();
  /// 97_39, 97_40, with multiplier 0. Takes over the caller's pin; `local_products` [N].
  void add(Cut& cut, std::span<const double> local_products);

  /// Copies cuts and multipliers into a snapshot and pins the cuts for it.
  void pin_into(Snapshot& snapshot) const;
  /// On loading the polytope has to be empty: its cuts come from the pool.
  void persist(StateArchive& archive);

 private:
  struct Member {
    Cut* cut = nullptr;
    double multiplier = 0;
    double previous_multiplier = 0;
    bool stepped = false;          ///< a master step has seen it
    std::vector<double> products;  ///< b_il . y_i, [N]
  };
  template <class Predicate>
  std::size_t remove_if(const Predicate& goes);

  CutPool& pool_;
  std::size_t num_workers_, max_cuts_;
  std::vector<Member> members_;
  std::vector<Member> spare_;  ///< members whose buffers wait for the next cut
};

}  // namespace adbo::detail
