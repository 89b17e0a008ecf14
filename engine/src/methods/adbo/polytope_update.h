#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "adbo/options.h"
#include "adbo/problem.h"
#include "methods/adbo/adbo_settings.h"
#include "methods/adbo/polytope.h"
#include "protocol/method.h"

namespace adbo::detail {

/// Estimates phi(v) and dh/dv by K rounds with all workers and builds a cut (docs/method.md, "Polytope
/// update"). The master's; owns what the master keeps during the rounds: z'_k, phi_ik and their adjoints.
class PolytopeUpdate {
 public:
  PolytopeUpdate(const Problem& problem, const Options& options);

  [[nodiscard]] static bool due(const Options& options, std::int64_t t);

  struct Result {
    MethodMaster::Outcome outcome;
    double distance = 0;         ///< h
    double lower_objective = 0;  ///< sum_i g_i(v, y'_i0)
    double barrier_seconds = 0;
  };
  /// The workers must have no step in flight, and the snapshot published last must carry v and z. Fills `cut`
  /// completely but for its serial, and `local_products` [N] with b_i . y_i.
  /// `workers` (ascending) take part.
  Result run(std::span<const std::size_t> workers, std::span<const double> upper_consensus,
             std::span<const double> lower_consensus, Transport& transport, Cut& cut,
             std::vector<double>& local_products, Counts& counts);

 private:
  bool exchange(Transport& transport, Counts& counts);
  [[nodiscard]] MethodMaster::Outcome inspect(bool complete, const Transport& transport) const;
  bool forward_rounds(std::span<const double> lower_consensus, Transport& transport, Counts& counts);
  void request_forward(std::int64_t round, Transport& transport);
  void predict_consensus(std::span<const double> lower_consensus);
  void advance(const Transport& transport);
  bool reverse_rounds(Transport& transport, Counts& counts);
  bool isolated_gradient(Transport& transport, Counts& counts);
  void assemble(std::span<const double> upper_consensus, std::span<const double> lower_consensus,
                const Transport& transport);

  const Problem& problem_;
  const Options& options_;
  kernels::RoundSteps steps_;
  std::span<const std::size_t> workers_;  ///< of the update under way
  Cut* cut_ = nullptr;
  std::vector<double>* local_products_ = nullptr;
  Result result_;

  std::vector<double> consensus_;             ///< z'_k, [m]
  std::vector<double> next_consensus_;        ///< z'_{k+1} where it is known before the answers, [m]
  std::vector<std::vector<double>> dual_;     ///< phi_ik, [N][m]
  std::vector<double> dual_sum_, point_sum_;  ///< over the workers, [m]
  std::vector<double> adjoint_;               ///< zbar, [m]
  std::vector<double> dual_adjoint_sum_, local_adjoint_sum_;  ///< [m]
};

}  // namespace adbo::detail
