#pragma once

#include "adbo/state_archive.h"

namespace adbo::detail {

/// Steps that no one has to set (docs/practical-cuts.md). eta_y = 1 / L_y from the largest curvature seen;
/// eta_v by the drift rule: eta_v = kappa eta_y (||b||^2 + ||c||^2) / ||a||^2 lets y*(v) drift kappa times as
/// far as a step of y goes. kappa follows what is measured.
class DriftSteps {
 public:
  /// An estimate of the curvature along y, of either objective.
  void see_curvature(double curvature);
  /// A new cut with ||b||^2 + ||c||^2 = 1 and ||a||^2 = `upper_norm_squared`.
  void see_cut(double upper_norm_squared);
  /// `lag`: how far the running estimates are behind, relative to the distance that cuts are made of.
  /// `turn`: the cosine between the last two moves of v. kappa grows by 5 percent while the estimates follow
  /// and v goes on in its direction, and falls by 30 percent otherwise.
  void follow(double lag, double turn);

  /// eta_y; 0 before any curvature was seen.
  [[nodiscard]] double lower_step() const { return curvature_ > 0 ? 1 / curvature_ : 0; }
  /// eta_v; 0 before any cut.
  [[nodiscard]] double upper_step() const {
    return upper_scale_ > 0 ? kappa_ * lower_step() / upper_scale_ : 0;
  }
  [[nodiscard]] double kappa() const { return kappa_; }

  /// A larger lag spoils the cuts: their normals would show the estimates' error instead of the objective.
  static constexpr double kBearableLag = 0.1;
  void persist(StateArchive& archive) { archive(curvature_, upper_scale_, kappa_); }

 private:
  double curvature_ = 0;    ///< L_y
  double upper_scale_ = 0;  ///< ||a||^2 of the steepest cut not long ago
  double kappa_ = 0.1;
};

}  // namespace adbo::detail
