#include "methods/adbo/polytope.h"

#include <algorithm>
#include <utility>

#include "protocol/vector_math.h"

namespace adbo::detail {

Polytope::Polytope(CutPool& pool, std::size_t num_workers, std::size_t max_cuts)
    : pool_(pool), num_workers_(num_workers), max_cuts_(max_cuts) {}

double Polytope::local_product(std::size_t l) const {
  double sum = 0;
  for (const double product : members_[l].products) sum += product;
  return sum;
}

void Polytope::set_multiplier(std::size_t l, double value) {
  Member& member = members_[l];
  member.previous_multiplier = member.multiplier;
  member.multiplier = value;
  member.stepped = true;
}

void Polytope::absorb(std::size_t worker, const UpdateMessage& update) {
  KnownCuts known(update);
  for (Member& member : members_) {
    const std::optional<std::size_t> place = known.find(*member.cut);
    member.products[worker] =
        place ? update.cut_product[*place] : dot(member.cut->lower_local[worker], update.lower_local);
  }
}

template <class Predicate>
std::size_t Polytope::remove_if(const Predicate& goes) {
  std::size_t kept = 0;
  for (Member& member : members_) {
    if (goes(member)) {
      pool_.unpin(*member.cut);
      spare_.push_back(std::move(member));
    } else {
      // A self-move would empty the products.
      if (&members_[kept] != &member) members_[kept] = std::move(member);
      ++kept;
    }
  }
  const std::size_t removed = members_.size() - kept;
  members_.resize(kept);
  return removed;
}

std::size_t Polytope::drop_inactive(DropRule rule) {
  constexpr double kThreshold = 1e-10;
  return remove_if([rule](const Member& member) {
    if (!member.stepped) return false;
    if (rule == DropRule::kBelowThreshold) return member.multiplier < kThreshold;
    return member.multiplier == 0 && member.previous_multiplier == 0;
  });
}

std::size_t Polytope::drop_all() {
  return remove_if([](const Member&) { return true; });
}

std::size_t Polytope::evict_if_full() {
  if (members_.size() < max_cuts_) return 0;
  const auto smallest =
      std::min_element(members_.begin(), members_.end(),
                       [](const Member& a, const Member& b) { return a.multiplier < b.multiplier; });
  const Cut* victim = smallest->cut;
  return remove_if([victim](const Member& member) { return member.cut == victim; });
}

void Polytope::add(Cut& cut, std::span<const double> local_products) {
  Member member;
  if (!spare_.empty()) {
    member = std::move(spare_.back());
    spare_.pop_back();
  }
  member.cut = &cut;
  member.multiplier = member.previous_multiplier = 0;
  member.stepped = false;
  member.products.assign(local_products.begin(), local_products.end());
  members_.push_back(std::move(member));
}

void Polytope::persist(StateArchive& archive) {
  persist_cuts(archive, pool_, max_cuts_, members_);
  for (Member& member : members_) {
    archive(member.multiplier, member.previous_multiplier, member.stepped);
    member.products.resize(num_workers_);
    archive(member.products);
  }
}

void Polytope::pin_into(Snapshot& snapshot) const { pin_cuts(members_, snapshot); }

}  // namespace adbo::detail
