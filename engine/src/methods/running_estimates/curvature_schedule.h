#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "adbo/problem.h"
#include "adbo/state_archive.h"
#include "methods/running_estimates/curvature_form.h"
#include "methods/running_estimates/upper_ownership.h"

namespace adbo::detail {

/// What all workers of a problem send of their curvature. Looks at every worker: to be made once.
struct CurvaturePlan {
  explicit CurvaturePlan(const Problem& problem)
      : form(common_curvature_form(problem)), follows_upper(!owns_upper_coordinates(problem)) {}
  CurvatureForm form;
  /// Weights per training row change a block by a bounded factor; shared coefficients may by any.
  bool follows_upper;
};

/// When a worker sends its curvature again, and what. The worker's.
class CurvatureSchedule {
 public:
  CurvatureSchedule(const CurvaturePlan& plan, const Problem& problem, std::size_t worker);

  /// Whether an answer to a request with this x, [n_i], is to carry curvature.
  [[nodiscard]] bool is_due(std::span<const double> x) const;
  /// The answer is made, and does or does not carry curvature. An answer that failed is none.
  void note_answer(std::span<const double> x, bool has_curvature);
  /// out [numbers()], at (x, y).
  void compute(WorkerObjective& objective, std::span<const double> x, std::span<const double> y,
               std::span<double> out) const;
  [[nodiscard]] std::size_t numbers() const { return form_.numbers(); }
  void persist(StateArchive& archive) { archive(answers_since_, sent_at_); }

 private:
  [[nodiscard]] bool is_near(std::span<const double> x) const;

  CurvatureForm form_;
  std::int64_t answers_since_ = -1;  ///< -1: none was sent yet
  std::vector<double> sent_at_;      ///< x of what was last sent; empty where x does not matter
};

}  // namespace adbo::detail
