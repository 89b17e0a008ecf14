#include "methods/running_estimates/data_contribution.h"

#include "methods/running_estimates/curvature_form.h"
#include "methods/running_estimates/persist_block.h"
#include "methods/running_estimates/pieces.h"
#include "protocol/vector_math.h"

namespace adbo::detail {

DataContribution::DataContribution(const Problem& problem) : form_(contribution_form(problem)) {
  if (is_whole()) return;
  term_ = problem.common_term()->clone();
  block_size_ = common_curvature_form(problem).size;
  gradient_.resize(problem.lower_dim());
  diagonal_.resize(problem.lower_dim());
}

void DataContribution::reduce(std::span<const double> x, std::span<const double> y, std::span<const double> q,
                              UpdateMessage& message) {
  if (is_whole()) return;
  term_->gradient(x, y, gradient_);
  term_->curvature(x, y, diagonal_);
  add_scaled(-1.0, gradient_, message.lower_gradient);
  for (std::size_t k = 0; k < q.size(); ++k) message.hessian_product[k] -= diagonal_[k] * q[k];
  if (message.has_curvature) {
    subtract_common_curvature(message.curvature);
    block_ = message.curvature;
  }
  add_block_product(-1.0, block_, block_size_, y, message.lower_gradient);
  add_block_product(-1.0, block_, block_size_, q, message.hessian_product);
}

/// One block serves all pieces: it holds the largest of r's curvatures over them.
void DataContribution::subtract_common_curvature(std::span<double> block) const {
  for (std::size_t k = 0; k < block_size_; ++k) {
    block[k * (block_size_ + 1)] -= largest_over_pieces(diagonal_, block_size_, k);
  }
}

void DataContribution::persist(StateArchive& archive) { persist_block(archive, block_, block_size_); }

}  // namespace adbo::detail
