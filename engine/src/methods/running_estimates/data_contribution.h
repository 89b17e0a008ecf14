#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "adbo/problem.h"
#include "adbo/state_archive.h"
#include "methods/running_estimates/contribution_form.h"
#include "protocol/messages.h"

namespace adbo::detail {

/// Brings a worker's contribution into the problem's ContributionForm. The worker's.
class DataContribution {
 public:
  explicit DataContribution(const Problem& problem);

  [[nodiscard]] bool is_whole() const { return form_ == ContributionForm::kWhole; }
  /// Whether there is no block yet that messages could refer to: the next one has to carry curvature.
  [[nodiscard]] bool needs_block() const { return !is_whole() && block_.empty(); }
  /// `message` holds grad_y g_i, (d2 g_i/dy dy) q and, if it has curvature, that of g_i, all at (x, y); of
  /// these it then holds what the form says. x [n], y and q [m]. To be called when nothing can go wrong with
  /// the message any more: the block that it carries is the one that later messages refer to.
  void reduce(std::span<const double> x, std::span<const double> y, std::span<const double> q,
              UpdateMessage& message);
  void persist(StateArchive& archive);

 private:
  void subtract_common_curvature(std::span<double> block) const;

  ContributionForm form_;
  std::unique_ptr<CommonTerm> term_;         ///< null: contributions are whole
  std::size_t block_size_ = 0;               ///< b
  std::vector<double> gradient_, diagonal_;  ///< of r, [m]
  std::vector<double> block_;                ///< B_i as it was last sent, [b x b]; empty: none was
};

}  // namespace adbo::detail
