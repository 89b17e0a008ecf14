#pragma once
// Regularization coefficients (917_28): one coefficient per feature (or per feature and class), learned so
// that the regularized model does well on validation rows.

#include <string_view>
#include <vector>

#include "adbo/problem.h"
#include "adbo/problems/hyper_cleaning.h"

namespace adbo {

/// r(psi): the paper's psi itself (may go negative: the lower level can then be unbounded), exp(psi), log(1 +
/// exp(psi)).
enum class Parametrization { kLinear, kExp, kSoftplus };
[[nodiscard]] std::string_view to_string(Parametrization parametrization);

enum class TuningModel {
  kLogistic,  ///< labels 0 / 1 are read as -1 / +1; m = features
  kSoftmax,   ///< m = classes * features, class after class
};

struct TuningShard {
  LabelledRows train;
  LabelledRows validation;
};

struct TuningSettings {
  TuningModel model = TuningModel::kLogistic;
  int classes = 2;
  Parametrization parametrization = Parametrization::kExp;
  /// The lower penalty is penalty_factor * sum_j r(psi_j) w_j^2: 1 in the paper, 1/2 by default,
  /// 1/(2 * features * classes) in the authors' code.
  double penalty_factor = 0.5;
  bool per_class = false;  ///< softmax: a coefficient per feature and class (n = m) instead of per feature
  ShardWeights shard_weights = ShardWeights::kRows;
};

/// G_i(w) = s_i mean validation loss; g_i(psi, w) = s'_i mean training loss + penalty (the penalty is not
/// weighted). n = features, or m with per_class; every worker depends on all of psi, no G_i does. Throws
/// std::invalid_argument for what make_hyper_cleaning() refuses in shards, and for logistic with other than 2
/// classes or with per_class.
[[nodiscard]] Problem make_regularization_tuning(const std::vector<TuningShard>& shards,
                                                 const TuningSettings& settings);

/// Accuracy and mean loss of a model on rows under the given settings.
[[nodiscard]] ModelScore score_tuning_model(std::span<const double> model, const LabelledRows& rows,
                                            const TuningSettings& settings, std::int64_t threads = 0);

}  // namespace adbo
