#pragma once

#include <span>

#include "adbo/kernels/rows.h"

namespace adbo::kernels {

/// out [cols x cols] = sum_j weight_j x_j x_j', both triangles. `weights` [rows], >= 0; rows of weight 0 cost
/// nothing. Dense rows cost cols^2 per row, sparse ones the square of their non-zeros. Allocates a block of
/// rows.
void weighted_gram(const Rows& rows, std::span<const double> weights, std::span<double> out);

/// out [cols] = the diagonal of the same: sum_j weight_j x_jk^2. Costs one pass over the entries.
void weighted_squares(const Rows& rows, std::span<const double> weights, std::span<double> out);

}  // namespace adbo::kernels
