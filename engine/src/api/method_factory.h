#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "adbo/options.h"
#include "adbo/problem.h"
#include "protocol/method.h"
#include "protocol/worker.h"

namespace adbo::detail {

/// The two halves of a method and the snapshots they exchange.
struct MethodParts {
  std::unique_ptr<MethodMaster> master;
  std::vector<std::unique_ptr<WorkerProgram>> programs;  ///< one per worker
  std::function<std::unique_ptr<Snapshot>()> make_snapshot;
  std::function<void(Snapshot&)> on_reclaim;
};

/// `options` are resolved; both arguments must outlive the parts.
[[nodiscard]] MethodParts make_method(const Problem& problem, const Options& options);

}  // namespace adbo::detail
