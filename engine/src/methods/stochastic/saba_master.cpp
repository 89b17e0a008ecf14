#include "methods/stochastic/saba_master.h"

#include <algorithm>
#include <sstream>

namespace adbo::detail {

SabaMaster::SabaMaster(const Problem& problem, const Options& options) : SobaMaster(problem, options) {}

std::optional<Ending> SabaMaster::prepare() {
  if (std::optional<Ending> refusal = refuse_large_memory()) return refusal;
  make_memory();
  fill_memory();
  return std::nullopt;
}

/// All zero.
void SabaMaster::make_memory() {
  const Problem& problem = rounds().problem();
  const std::size_t m = problem.lower_dim();
  memory_.clear();
  memory_.reserve(problem.num_workers());
  for (std::size_t i = 0; i < problem.num_workers(); ++i) {
    const std::size_t n = problem.support(i).size;
    const std::size_t upper = sampler().upper_count(i), lower = sampler().lower_count(i);
    memory_.push_back({.upper_gradient_upper = {upper, problem.worker(i).upper_depends_on_x() ? n : 0},
                       .upper_gradient_lower = {upper, m},
                       .lower_gradient = {lower, m},
                       .hessian_product = {lower, m},
                       .cross_product = {lower, n}});
  }
}

std::optional<Ending> SabaMaster::refuse_large_memory() {
  const Problem& problem = rounds().problem();
  const auto m = static_cast<double>(problem.lower_dim());
  double numbers = 0, batches = 0;
  for (std::size_t i = 0; i < problem.num_workers(); ++i) {
    const auto n = static_cast<double>(problem.support(i).size);
    const auto upper = static_cast<double>(sampler().upper_count(i));
    const auto lower = static_cast<double>(sampler().lower_count(i));
    numbers += upper * (n + m) + lower * (n + 2 * m);
    batches += upper + lower;
  }
  const double bytes = numbers * sizeof(double);
  if (bytes <= kMemoryLimit) return std::nullopt;
  std::ostringstream text;
  text << "saba would remember the estimates of " << batches << " batches, " << bytes / 1e9
       << " GB; its limit is " << kMemoryLimit / 1e9 << " GB: larger batches (batch_rows) need less";
  return Ending{Termination::kFailed, text.str()};
}

/// One pass over all batches; workers with fewer batches than others give some of theirs again.
void SabaMaster::fill_memory() {
  std::size_t most = 0;
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    most = std::max({most, sampler().upper_count(i), sampler().lower_count(i)});
  }
  for (std::size_t d = 0; d < most; ++d) {
    ask_terms({.upper = d, .lower = d, .in_order = true});
    for (const std::size_t i : rounds().asked()) {
      const Evaluation& answer = rounds().answer(i);
      const std::size_t upper = d % sampler().upper_count(i), lower = d % sampler().lower_count(i);
      memory_[i].upper_gradient_upper.remember(upper, answer.upper_gradient_upper);
      memory_[i].upper_gradient_lower.remember(upper, answer.upper_gradient_lower);
      memory_[i].lower_gradient.remember(lower, answer.lower_gradient);
      memory_[i].hessian_product.remember(lower, answer.hessian_product);
      memory_[i].cross_product.remember(lower, answer.cross_product);
    }
  }
}

void SabaMaster::estimate(Terms& terms) {
  const BatchDraws draws = fresh_draws();
  ask_terms(draws);
  for (std::vector<double>* term : {&terms.upper_gradient_upper, &terms.upper_gradient_lower,
                                    &terms.lower_gradient, &terms.hessian_product, &terms.cross_product}) {
    std::fill(term->begin(), term->end(), 0.0);
  }
  const double share = 1 / static_cast<double>(rounds().asked().size());
  for (const std::size_t i : rounds().asked()) {
    const Evaluation& answer = rounds().answer(i);
    const UpperSupport& support = rounds().problem().support(i);
    const auto on_support = [&](std::vector<double>& vector) {
      return std::span<double>(vector).subspan(support.begin, support.size);
    };
    const std::size_t upper = sampler().upper(i, draws).index, lower = sampler().lower(i, draws).index;
    WorkerMemory& memory = memory_[i];
    memory.upper_gradient_upper.add_corrected(upper, answer.upper_gradient_upper, share,
                                              on_support(terms.upper_gradient_upper));
    memory.upper_gradient_lower.add_corrected(upper, answer.upper_gradient_lower, share,
                                              terms.upper_gradient_lower);
    memory.lower_gradient.add_corrected(lower, answer.lower_gradient, share, terms.lower_gradient);
    memory.hessian_product.add_corrected(lower, answer.hessian_product, share, terms.hessian_product);
    memory.cross_product.add_corrected(lower, answer.cross_product, share, on_support(terms.cross_product));
  }
}

}  // namespace adbo::detail
