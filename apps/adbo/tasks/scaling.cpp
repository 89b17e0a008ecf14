#include "tasks/scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "support/exit_code.h"

namespace adbo::app {
namespace {

using kernels::DenseRows;
using kernels::Rows;
using kernels::SparseRows;

/// Calls visit(column, value) for every stored value.
template <class Visit>
void for_each_value(const Rows& rows, Visit visit) {
  if (const auto* dense = std::get_if<DenseRows>(&rows)) {
    for (std::size_t r = 0; r < dense->rows(); ++r) {
      const float* const row = dense->row(r);
      for (std::size_t c = 0; c < dense->cols(); ++c) visit(c, static_cast<double>(row[c]));
    }
    return;
  }
  const auto& sparse = std::get<SparseRows>(rows);
  for (std::size_t k = 0; k < sparse.nonzeros(); ++k) {
    visit(static_cast<std::size_t>(sparse.column[k]), static_cast<double>(sparse.value[k]));
  }
}

struct Moments {
  std::vector<double> mean, deviation;  ///< [groups]
};

/// Mean and deviation of the values of each group (a column, or everything), in two passes. Dense rows:
/// `count` values per group.
template <class GroupOf>
Moments moments(const Rows& rows, std::size_t groups, double count, GroupOf group_of) {
  Moments result{std::vector<double>(groups), std::vector<double>(groups)};
  for_each_value(rows, [&](std::size_t c, double value) { result.mean[group_of(c)] += value / count; });
  for_each_value(rows, [&](std::size_t c, double value) {
    const double offset = value - result.mean[group_of(c)];
    result.deviation[group_of(c)] += offset * offset / count;
  });
  for (double& deviation : result.deviation) deviation = std::sqrt(deviation);
  return result;
}

/// Rounding leaves a deviation of about 1e-16 |mean| in a constant column: dividing by it would blow up
/// noise.
double factor_of(double deviation, double magnitude) {
  return deviation > 1e-9 * magnitude ? 1 / deviation : 1;
}

Scaling from_moments(ScaleRule rule, const Moments& found) {
  Scaling scaling;
  scaling.rule = rule;
  scaling.shift = found.mean;
  scaling.factor.resize(found.mean.size());
  for (std::size_t g = 0; g < found.mean.size(); ++g) {
    scaling.factor[g] = factor_of(found.deviation[g], std::abs(found.mean[g]));
  }
  return scaling;
}

Scaling learn_global(const Rows& rows) {
  const double count = static_cast<double>(kernels::row_count(rows) * kernels::column_count(rows));
  const Moments found = moments(rows, 1, count, [](std::size_t) { return std::size_t{0}; });
  Scaling scaling = from_moments(ScaleRule::kMeanSd, found);
  scaling.sentence =
      fmt::format("All features shifted by their common mean {:.6g} and divided by their deviation {:.6g}.",
                  found.mean[0], found.deviation[0]);
  return scaling;
}

Scaling learn_columns(const Rows& rows) {
  const double count = static_cast<double>(kernels::row_count(rows));
  Scaling scaling = from_moments(ScaleRule::kStandardize, moments(rows, kernels::column_count(rows), count,
                                                                  [](std::size_t c) { return c; }));
  scaling.sentence = "Every column shifted by its mean and divided by its deviation.";
  return scaling;
}

Scaling learn_sparse_columns(const Rows& rows) {
  const double count = static_cast<double>(kernels::row_count(rows));
  const std::size_t columns = kernels::column_count(rows);
  Scaling scaling;
  scaling.rule = ScaleRule::kStandardize;
  std::vector<double> squares(columns);
  for_each_value(rows, [&](std::size_t c, double value) { squares[c] += value * value / count; });
  scaling.shift.assign(columns, 0);
  scaling.factor.resize(columns);
  for (std::size_t c = 0; c < columns; ++c)
    scaling.factor[c] = squares[c] > 0 ? 1 / std::sqrt(squares[c]) : 1;
  scaling.sentence = "Every column divided by its root mean square (not centred: the table is sparse).";
  return scaling;
}

Scaling learn_unit(const Rows& rows) {
  const std::size_t columns = kernels::column_count(rows);
  Scaling scaling;
  scaling.rule = ScaleRule::kUnit;
  std::vector<double> largest(columns);
  for_each_value(rows,
                 [&](std::size_t c, double value) { largest[c] = std::max(largest[c], std::abs(value)); });
  scaling.shift.assign(columns, 0);
  scaling.factor.resize(columns);
  for (std::size_t c = 0; c < columns; ++c) scaling.factor[c] = largest[c] > 0 ? 1 / largest[c] : 1;
  scaling.sentence = "Every column divided by its largest magnitude.";
  return scaling;
}

void refuse_sparse(const Rows& rows, std::string_view rule) {
  if (std::holds_alternative<SparseRows>(rows)) {
    throw UsageError(fmt::format(
        "scale = {} would fill the zeros of a sparse table: use standardize, unit or none", rule));
  }
}

}  // namespace

Scaling mnist_code_scaling(double divisor) {
  Scaling scaling;
  scaling.rule = ScaleRule::kMnistCode;
  scaling.shift = {0.1307 * divisor};
  scaling.factor = {1 / (0.3081 * divisor)};
  scaling.sentence = "(p / 256 - 0.1307) / 0.3081, with 255 in place of 256 for the test rows.";
  return scaling;
}

Scaling learn_scaling(const Rows& rows, ScaleRule rule, bool pictures) {
  if (rule == ScaleRule::kAuto) rule = pictures ? ScaleRule::kMeanSd : ScaleRule::kStandardize;
  switch (rule) {
    case ScaleRule::kMeanSd:
      refuse_sparse(rows, "mean-sd");
      return learn_global(rows);
    case ScaleRule::kStandardize:
      return std::holds_alternative<SparseRows>(rows) ? learn_sparse_columns(rows) : learn_columns(rows);
    case ScaleRule::kUnit:
      return learn_unit(rows);
    case ScaleRule::kMnistCode:
      refuse_sparse(rows, "mnist-code");
      return mnist_code_scaling(256);
    case ScaleRule::kAuto:
    case ScaleRule::kNone:
      break;
  }
  Scaling none;
  none.sentence = "Features as they stand in the file.";
  return none;
}

void apply_scaling(Rows& rows, const Scaling& scaling) {
  if (scaling.rule == ScaleRule::kNone) return;
  const auto scaled = [&scaling](std::size_t c, float value) {
    const std::size_t g = scaling.per_column() ? c : 0;
    return static_cast<float>((static_cast<double>(value) - scaling.shift[g]) * scaling.factor[g]);
  };
  if (auto* dense = std::get_if<DenseRows>(&rows)) {
    for (std::size_t r = 0; r < dense->rows(); ++r) {
      float* const row = dense->mutable_row(r);
      for (std::size_t c = 0; c < dense->cols(); ++c) row[c] = scaled(c, row[c]);
    }
    return;
  }
  auto& sparse = std::get<SparseRows>(rows);
  for (std::size_t k = 0; k < sparse.nonzeros(); ++k) {
    sparse.value[k] = scaled(static_cast<std::size_t>(sparse.column[k]), sparse.value[k]);
  }
}

}  // namespace adbo::app
