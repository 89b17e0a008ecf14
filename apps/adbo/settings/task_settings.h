#pragma once
// What a command can be told beside the engine's Options: data, preparation, model, output.

#include <cstdint>
#include <string>

#include "adbo/problems/hyper_cleaning.h"
#include "adbo/problems/regularization_tuning.h"
#include "io/csv.h"
#include "io/libsvm.h"

namespace adbo::app {

enum class ProblemKind { kClean, kTune, kQuadratic };
/// Which rows of a worker's shard validate: its last ones, or random ones.
enum class Split { kShardTail, kRandom };
/// kAuto: mean-sd for pictures, standardize for tables. kMnistCode: as the authors' code scales MNIST.
enum class ScaleRule { kAuto, kNone, kStandardize, kMeanSd, kUnit, kMnistCode };
/// What follows when held-out rows have chosen a state: a run of as many iterations with all validation rows,
/// or nothing.
enum class AfterHoldout { kRefit, kKeep };
/// Every row with the given rate, to a uniformly random other class; or exactly floor(rate rows) rows of
/// every shard, their label shifted (the authors' code).
enum class CorruptRule { kOtherClass, kCountShift };
/// All zeros; or the random starts of the authors' two programs.
enum class StartRule { kZero, kCodeClean, kCodeTune };
enum class ModelRule { kAuto, kLogistic, kSoftmax };
/// kAuto: kDefaultBound around zero where the coefficients are exp(psi) or softplus, none where they are psi.
enum class BoundsRule { kAuto, kNone, kGiven };
/// Beyond it exp(psi) is so large or small that no model tells it from infinity or zero.
constexpr double kDefaultBound = 12;
struct UpperBounds {
  BoundsRule rule = BoundsRule::kAuto;
  double lowest = 0, highest = 0;  ///< of kGiven
};
/// Of psi, where the coefficients are r(psi); of kGiven or kNone.
[[nodiscard]] inline UpperBounds settled(const UpperBounds& bounds, Parametrization parametrization) {
  if (bounds.rule != BoundsRule::kAuto) return bounds;
  if (parametrization == Parametrization::kLinear) return {.rule = BoundsRule::kNone};
  return {.rule = BoundsRule::kGiven, .lowest = -kDefaultBound, .highest = kDefaultBound};
}
/// How far the result is measured at the end. kAuto: to the end, unless the limit of time or a signal comes
/// before; then kQuick.
enum class MeasureRule { kAuto, kFull, kQuick };
enum class ProgressMode { kAuto, kBar, kLines, kNone };

struct TaskSettings {
  ProblemKind problem = ProblemKind::kClean;

  // Data
  std::string train, train_labels;
  std::string validation, validation_labels;
  std::string test, test_labels;
  std::string label_column, id_column;
  std::string positive_class;
  io::HeaderMode header = io::HeaderMode::kAuto;
  io::IndexBase index_base = io::IndexBase::kAuto;

  // Preparation
  std::int64_t workers = 18;  ///< N
  double validation_fraction = 0.5;
  Split split = Split::kShardTail;
  double holdout = 0.3;        ///< resolve_settings() makes 0 of it for tune
  std::int64_t patience = 50;  ///< iterations
  AfterHoldout after_holdout = AfterHoldout::kRefit;
  std::int64_t pool_rows = 0;
  ScaleRule scale = ScaleRule::kAuto;
  double corrupt = 0;
  CorruptRule corrupt_rule = CorruptRule::kOtherClass;

  // Model
  ShardWeights shard_weights = ShardWeights::kRows;
  double ridge = 0.001;
  ModelRule model = ModelRule::kAuto;
  Parametrization parametrization = Parametrization::kExp;
  double penalty_factor = 0.5;
  bool per_class = false;
  UpperBounds bounds;
  StartRule start = StartRule::kZero;

  // Quadratic family
  std::int64_t upper_dim = 4;
  std::int64_t lower_dim = 6;
  double condition = 10;
  double heterogeneity = 1;

  // Measures
  MeasureRule measure = MeasureRule::kAuto;
  DeliverRule deliver = DeliverRule::kTrimmed;
  double measure_tolerance = 0;
  std::int64_t measure_evaluations = 2000;
  std::int64_t resolve_every = 0;

  // Output
  std::string out = "adbo-out";
  std::int64_t evaluate_every = 0;
  double checkpoint_interval = 60;  ///< seconds
  std::int64_t checkpoint_every = 0;
  bool record = false;
  std::string replay;  ///< of clock = replay:FILE
  ProgressMode progress = ProgressMode::kAuto;
  bool quiet = false;
  bool verbose = false;
  bool json = false;
  bool require_converged = false;
};

}  // namespace adbo::app
