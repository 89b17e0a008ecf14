#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "adbo/state_archive.h"
#include "methods/cuts/cut_pool.h"
#include "protocol/transport.h"

namespace adbo::detail {

/// The cuts alive with what the exact multipliers need of them: the Gram matrix, which changes only when a
/// cut comes or goes, and the workers' scalars b_il.d_i and b_il.grad_y G_i, d_i = y_i - y-hat. The master's.
class CutModel {
 public:
  /// `with_local_blocks`: cuts have blocks b_i; without, they see v and z alone.
  CutModel(CutPool& pool, std::size_t num_workers, std::size_t capacity, bool with_local_blocks);

  [[nodiscard]] std::size_t size() const { return members_.size(); }
  [[nodiscard]] bool is_full() const { return size() == capacity_; }
  [[nodiscard]] const Cut& cut(std::size_t l) const { return *members_[l].cut; }
  [[nodiscard]] double multiplier(std::size_t l) const { return members_[l].multiplier; }

  /// Takes over what a worker's update says of its scalars, and computes them for the cuts the worker did not
  /// know.
  void absorb(std::size_t worker, const UpdateMessage& update);
  /// sum_i b_i.d_i + c.d + kappa, d = z - y-hat.
  [[nodiscard]] double value(std::size_t l, std::span<const double> departure) const;
  /// sum_i b_il . grad_y G_i.
  [[nodiscard]] double gradient_product(std::size_t l) const;
  /// sum_i b_ki.b_li + c_k.c_l.
  [[nodiscard]] double gram(std::size_t k, std::size_t l) const { return gram_[k * capacity_ + l]; }

  void set_multiplier(std::size_t l, double value);
  /// Takes over the caller's pin; there must be room. Multiplier 0.
  void add(Cut& cut, const WorkerStates& states);
  /// Drops the cuts whose multiplier was zero at two consecutive iterations (97_new_35); how many went.
  std::size_t drop_idle();
  /// Drops every cut; how many went.
  std::size_t drop_all();
  /// Drops the oldest cut.
  void drop_oldest();

  /// Copies cuts and multipliers into a snapshot and pins the cuts for it.
  void pin_into(Snapshot& snapshot) const;
  /// On loading the model has to be empty: its cuts come from the pool.
  void persist(StateArchive& archive);

 private:
  struct Member {
    Cut* cut = nullptr;
    double multiplier = 0;
    int idle_iterations = 0;                          ///< consecutive ones with multiplier zero
    std::vector<double> products, gradient_products;  ///< [N]
  };
  void extend_gram();
  template <class Predicate>
  std::size_t remove_if(const Predicate& goes);

  CutPool& pool_;
  std::size_t num_workers_, capacity_;
  bool with_local_blocks_;
  std::vector<Member> members_, spare_;
  std::vector<double> gram_;  ///< [capacity * capacity]
};

}  // namespace adbo::detail
