#include "adbo/method_table.h"

#include <algorithm>
#include <array>

namespace adbo {
namespace {

// Groups of the option table.
constexpr std::string_view kStepSizes = "Step sizes", kRegularization = "Regularization of the Lagrangian",
                           kCuts = "Lower rounds and cuts", kAsynchronous = "Asynchronous hypergradient",
                           kExact = "Exact hypergradient", kHypergradientMethods = "Hypergradient methods",
                           kF2sa = "F2SA", kFedNest = "FedNest", kStochastic = "Stochastic methods";

/// Groups whose options act on every method, but for those that acts_on() names.
constexpr std::array<std::string_view, 3> kCommonGroups{"Asynchrony", "Workers that fail", "Limits"};

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
       {kHypergradientMethods, kStochastic}},
      {Method::kStable,
       "stable",
       "One loop: Hessian and cross derivative are estimated as matrices with a correction of their lag, and "
       "y follows x along them.",
       "Chen, Sun, Xiao, Yin 2021, Algorithm 1",
       Pace::kRounds,
       {"step_upper", "step_lower", "step_decay", "batch_rows", kStochastic, "STABLE"}},
      {Method::kVrbo,
       "vrbo",
       "Recursive estimates of the lower gradient and the hypergradient, refreshed from all rows every "
       "vrbo_period iterations.",
       "Yang, Ji, Liang 2021, Algorithm 2",
       Pace::kRounds,
       {kHypergradientMethods, kStochastic, "VRBO"}},
      {Method::kSoba,
       "soba",
       "One loop: lower solution, adjoint and upper variable move at once along stochastic directions, one "
       "round per iteration.",
       "Dagreou, Ablin, Vaiter, Moreau 2022, Algorithm 1",
       Pace::kRounds,
       {"step_upper", "step_lower", "step_adjoint", "step_decay", "batch_rows", kStochastic}},
      {Method::kSaba,
       "saba",
       "soba with the variance of every direction reduced by a memory of all batches' last estimates.",
       "Dagreou, Ablin, Vaiter, Moreau 2022, Algorithm 1 with SAGA directions",
       Pace::kRounds,
       {"step_upper", "step_lower", "step_adjoint", "step_decay", "batch_rows", kStochastic}},
      {Method::kAmigo,
       "amigo",
       "Stochastic gradient steps for the lower solution and for the adjoint, both warm-started.",
       "Arbel, Mairal 2022, Algorithm 1",
       Pace::kRounds,
       {kHypergradientMethods, kStochastic}},
      {Method::kAidCg,
       "aid-cg",
       "Gradient steps below, the adjoint by a few conjugate gradients from the last one, a gradient step "
       "above.",
       "Ji, Yang, Liang 2021, Algorithm 1 (AID-BiO); Grazzi, Franceschi, Pontil, Salzo 2020",
       Pace::kRounds,
       {"step_upper", "step_lower", "step_decay", "lower_steps", "adjoint_steps"}},
      {Method::kAidNeumann,
       "aid-neumann",
       "The same with the adjoint by a truncated Neumann series.",
       "Ji, Yang, Liang 2021, Algorithm 1 (AID-BiO); Grazzi, Franceschi, Pontil, Salzo 2020",
       Pace::kRounds,
       {"step_upper", "step_lower", "step_adjoint", "step_decay", "lower_steps", "adjoint_steps"}},
      {Method::kItd,
       "itd",
       "Gradient steps below, differentiated in reverse, a gradient step above.",
       "Ji, Yang, Liang 2021, Algorithm 1 (ITD-BiO)",
       Pace::kRounds,
       {"step_upper", "step_lower", "step_decay", "lower_steps"}},
      {Method::kCpbo,
       "cpbo",
       "The paper's centralized method: cutting planes of the lower level until T1, then descent with the "
       "polytope as it is.",
       "Jiao, Yang, Wu, Song, Jian 2023, Algorithm 2",
       Pace::kRounds,
       {"step_upper", "step_lower", "step_cut_multiplier", "multipliers", "lower_rounds", "cut_interval",
        "cut_phase", "cut_until", "max_cuts", "lower_tolerance", "cut_rule", "drop_rule"}},
      {Method::kF2sa,
       "f2sa",
       "Gradients alone: the lower level as a penalty whose multiplier grows.",
       "Kwon, Kwon, Wright, Nowak 2023, Algorithm 1 (F2SA)",
       Pace::kRounds,
       {"step_upper", "step_lower", "step_decay", "lower_steps", kF2sa}},
      {Method::kFedNest,
       "fednest",
       "Federated: local steps of the workers on both levels, the hypergradient by a federated Neumann "
       "series.",
       "Tarzanagh, Li, Thrampoulidis, Oymak 2022, Algorithms 1 to 4 (FedNest, LFedNest)",
       Pace::kRounds,
       {kHypergradientMethods, kFedNest}},
      {Method::kDsbo,
       "dsbo",
       "Decentralized: gossip on both levels and on the adjoint, with gradient tracking.",
       "Chen, Huang, Ma, Balasubramanian 2022, Algorithms 1 and 2 (MA-DSBO)",
       Pace::kRounds,
       {kHypergradientMethods, "graph", "graph_probability", "dsbo_variant", "dsbo_averaging"}},
      {Method::kSpdb,
       "spdb",
       "Decentralized: primal-dual steps of an augmented Lagrangian on both levels and on the adjoint.",
       "Lu, Cui, Squillante, Kingsbury, Horesh 2022 (SPDB); Lu, Zeng, Cui, Squillante, Horesh, Kingsbury, "
       "Liu, "
       "Hong 2022 (SLAM)",
       Pace::kRounds,
       {kHypergradientMethods, "graph", "graph_probability", "spdb_penalty"}},
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
  if (option.name == "active_workers") return info.pace != Pace::kRounds;
  // Where everybody is awaited nobody is late.
  if (option.name == "max_staleness") return info.pace == Pace::kArrivals;
  // An agent of a network is not to be left out: its neighbours know nothing of the agents behind it.
  if (option.name == "worker_failure") return info.method != Method::kDsbo && info.method != Method::kSpdb;
  return contains(kCommonGroups, option.group) || contains(info.options, option.group) ||
         contains(info.options, option.name);
}

std::string method_name(Method method) { return std::string(method_info(method).name); }

}  // namespace adbo
