#include "adbo/method_table.h"

#include <algorithm>
#include <array>

namespace adbo {
namespace {

// Groups of the option table.
constexpr std::string_view kStepSizes = "Step sizes", kRegularization = "Regularization of the Lagrangian",
                           kCuts = "Lower rounds and cuts", kAsynchronous = "Asynchronous hypergradient",
                           kExact = "Exact hypergradient", kHypergradientMethods = "Hypergradient methods";

/// Groups whose options act on every method, but for those that are about answers that come late.
constexpr std::array<std::string_view, 2> kCommonGroups{"Asynchrony", "Limits"};
constexpr std::array<std::string_view, 2> kOfArrivals{"active_workers", "max_staleness"};

std::vector<MethodInfo> build_table() {
  std::vector<MethodInfo> table = {
      {Method::kAuto, "auto", "Stands for async-hypergradient.", "", Pace::kArrivals, {}},
      {Method::kAdbo,
       "adbo",
       "The paper's asynchronous method: cutting planes of the lower level, the first S answers, staleness "
       "at most tau.",
       "Jiao, Yang, Wu, Song, Jian 2023, Algorithm 1",
       Pace::kArrivals,
       {kStepSizes, kRegularization, kCuts, "adjoint_damping"}},
      {Method::kSdbo,
       "sdbo",
       "The same, waiting for every worker in every iteration (S = N).",
       "Jiao, Yang, Wu, Song, Jian 2023, Algorithm 1",
       Pace::kAllArrivals,
       {kStepSizes, kRegularization, kCuts, "adjoint_damping"}},
      {Method::kAsyncHypergradient,
       "async-hypergradient",
       "No cuts, no barrier: running estimates of the lower solution and its adjoint from the workers' "
       "latest "
       "contributions.",
       "docs/practical.md",
       Pace::kArrivals,
       {kAsynchronous}},
      {Method::kExact,
       "exact",
       "The reference: the lower level solved and differentiated exactly, L-BFGS within the bounds; every "
       "round waits for all workers.",
       "docs/exact.md",
       Pace::kRounds,
       {kExact}},
      {Method::kStocbio,
       "stocbio",
       "Warm-started lower steps, then the hypergradient by a Neumann series, each with mini-batches of its "
       "own.",
       "Ji, Yang, Liang 2021, Algorithm 2",
       Pace::kRounds,
       {kHypergradientMethods}},
      {Method::kStable,
       "stable",
       "One loop: Hessian and cross derivative are estimated as matrices with a correction of their lag, and "
       "y follows x along them.",
       "Chen, Sun, Xiao, Yin 2021, Algorithm 1",
       Pace::kRounds,
       {"step_upper", "step_lower", "step_decay", "batch_rows", "STABLE"}},
      {Method::kVrbo,
       "vrbo",
       "Recursive estimates of the lower gradient and the hypergradient, refreshed from all rows every "
       "vrbo_period iterations.",
       "Yang, Ji, Liang 2021, Algorithm 2",
       Pace::kRounds,
       {kHypergradientMethods, "VRBO"}},
      {Method::kSoba,
       "soba",
       "One loop: lower solution, adjoint and upper variable move at once along stochastic directions, one "
       "round per iteration.",
       "Dagreou, Ablin, Vaiter, Moreau 2022, Algorithm 1",
       Pace::kRounds,
       {"step_upper", "step_lower", "step_adjoint", "step_decay", "batch_rows"}},
      {Method::kSaba,
       "saba",
       "soba with the variance of every direction reduced by a memory of all batches' last estimates.",
       "Dagreou, Ablin, Vaiter, Moreau 2022, Algorithm 1 with SAGA directions",
       Pace::kRounds,
       {"step_upper", "step_lower", "step_adjoint", "step_decay", "batch_rows"}},
      {Method::kAmigo,
       "amigo",
       "Stochastic gradient steps for the lower solution and for the adjoint, both warm-started.",
       "Arbel, Mairal 2022, Algorithm 1",
       Pace::kRounds,
       {kHypergradientMethods}},
  };
  return table;
}

bool contains(std::span<const std::string_view> list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

}  // namespace

std::span<const MethodInfo> method_table() {
  static const std::vector<MethodInfo> table = build_table();
  return table;
}

const MethodInfo& method_info(Method method) { return method_table()[static_cast<std::size_t>(method)]; }

Method settled(Method method) { return method == Method::kAuto ? kAutomaticMethod : method; }

bool acts_on(const OptionInfo& option, Method method) {
  const MethodInfo& info = method_info(settled(method));
  if (contains(kOfArrivals, option.name)) return info.pace != Pace::kRounds;
  return contains(kCommonGroups, option.group) || contains(info.options, option.group) ||
         contains(info.options, option.name);
}

std::string method_name(Method method) { return std::string(method_info(method).name); }

}  // namespace adbo
