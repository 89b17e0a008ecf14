#pragma once

#include <string>
#include <vector>

#include "adbo/kernels/rows.h"
#include "settings/task_settings.h"

namespace adbo::app {

/// value -> (value - shift) * factor, one pair for all columns (size 1) or one per column.
struct Scaling {
  ScaleRule rule = ScaleRule::kNone;  ///< never kAuto
  std::vector<double> shift{0}, factor{1};
  std::string sentence;  ///< what was done, for the summary

  [[nodiscard]] bool per_column() const { return shift.size() > 1; }
};

/// Learns the scaling of these rows (those of --train). kAuto: kMeanSd for pictures, kStandardize for tables.
/// A constant column is shifted to zero and keeps its unit; a sparse table keeps its zeros: its columns are
/// divided by their root mean square instead of being centred. UsageError for mean-sd and mnist-code of
/// sparse rows.
[[nodiscard]] Scaling learn_scaling(const kernels::Rows& rows, ScaleRule rule, bool pictures);
/// Of the authors' MNIST code: (p / divisor - 0.1307) / 0.3081.
[[nodiscard]] Scaling mnist_code_scaling(double divisor);

/// In place.
void apply_scaling(kernels::Rows& rows, const Scaling& scaling);

}  // namespace adbo::app
