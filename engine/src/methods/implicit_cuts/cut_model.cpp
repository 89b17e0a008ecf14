#include "methods/implicit_cuts/cut_model.h"

#include <utility>

#include "protocol/vector_math.h"

namespace adbo::detail {

CutModel::CutModel(CutPool& pool, std::size_t num_workers, std::size_t capacity, bool with_local_blocks)
    : pool_(pool),
      num_workers_(num_workers),
      capacity_(capacity),
      with_local_blocks_(with_local_blocks),
      gram_(capacity * capacity) {
  members_.reserve(capacity);
  spare_.reserve(capacity);
}

void CutModel::absorb(std::size_t worker, const UpdateMessage& update) {
  if (!with_local_blocks_) return;
  KnownCuts known(update);
  for (Member& member : members_) {
    const std::optional<std::size_t> place = known.find(*member.cut);
    const std::vector<double>& block = member.cut->lower_local[worker];
    member.products[worker] = place ? update.cut_product[*place] : dot(block, update.lower_local);
    member.gradient_products[worker] =
        place ? update.cut_gradient_product[*place] : dot(block, update.upper_objective_gradient);
  }
}

double CutModel::value(std::size_t l, std::span<const double> departure) const {
  const Cut& cut = *members_[l].cut;
  double sum = dot(cut.lower_consensus, departure) + cut.offset;
  for (const double product : members_[l].products) sum += product;
  return sum;
}

double CutModel::gradient_product(std::size_t l) const {
  double sum = 0;
  for (const double product : members_[l].gradient_products) sum += product;
  return sum;
}

void CutModel::set_multiplier(std::size_t l, double value) {
  Member& member = members_[l];
  member.multiplier = value;
  member.idle_iterations = value == 0 ? member.idle_iterations + 1 : 0;
}

void CutModel::add(Cut& cut, const WorkerStates& states) {
  Member member;
  if (!spare_.empty()) {
    member = std::move(spare_.back());
    spare_.pop_back();
  }
  member.cut = &cut;
  member.multiplier = 0;
  member.idle_iterations = 0;
  const std::size_t blocks = with_local_blocks_ ? num_workers_ : 0;
  member.products.resize(blocks);
  member.gradient_products.resize(blocks);
  for (std::size_t i = 0; i < blocks; ++i) {
    member.products[i] = dot(cut.lower_local[i], states.state(i).lower_local);
    member.gradient_products[i] = dot(cut.lower_local[i], states.state(i).upper_objective_gradient);
  }
  members_.push_back(std::move(member));
  extend_gram();
}

/// The newest cut's row and column.
void CutModel::extend_gram() {
  const std::size_t last = members_.size() - 1;
  const Cut& newest = *members_[last].cut;
  for (std::size_t l = 0; l <= last; ++l) {
    const Cut& other = *members_[l].cut;
    double product = dot(newest.lower_consensus, other.lower_consensus);
    for (std::size_t i = 0; with_local_blocks_ && i < num_workers_; ++i)
      product += dot(newest.lower_local[i], other.lower_local[i]);
    gram_[last * capacity_ + l] = gram_[l * capacity_ + last] = product;
  }
}

template <class Predicate>
std::size_t CutModel::remove_if(const Predicate& goes) {
  std::size_t kept = 0;
  for (std::size_t l = 0; l < members_.size(); ++l) {
    if (goes(l)) {
      pool_.unpin(*members_[l].cut);
      spare_.push_back(std::move(members_[l]));
      continue;
    }
    if (kept != l) {
      members_[kept] = std::move(members_[l]);
      // Rows, then columns, move up: every entry is read before its place is written.
      for (std::size_t k = 0; k < capacity_; ++k) gram_[kept * capacity_ + k] = gram_[l * capacity_ + k];
      for (std::size_t k = 0; k < capacity_; ++k) gram_[k * capacity_ + kept] = gram_[k * capacity_ + l];
    }
    ++kept;
  }
  const std::size_t removed = members_.size() - kept;
  members_.resize(kept);
  return removed;
}

std::size_t CutModel::drop_idle() {
  return remove_if([this](std::size_t l) { return members_[l].idle_iterations >= 2; });
}

std::size_t CutModel::drop_all() {
  return remove_if([](std::size_t) { return true; });
}

void CutModel::drop_oldest() {
  remove_if([](std::size_t l) { return l == 0; });
}

void CutModel::persist(StateArchive& archive) {
  persist_cuts(archive, pool_, capacity_, members_);
  const std::size_t blocks = with_local_blocks_ ? num_workers_ : 0;
  for (Member& member : members_) {
    archive(member.multiplier, member.idle_iterations);
    member.products.resize(blocks);
    member.gradient_products.resize(blocks);
    archive(member.products, member.gradient_products);
  }
  archive(gram_);
}

void CutModel::pin_into(Snapshot& snapshot) const { pin_cuts(members_, snapshot); }

}  // namespace adbo::detail
