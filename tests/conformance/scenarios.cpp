#include "scenarios.h"

#include <utility>

namespace adbo::conformance {
namespace {

/// The paper's rules, half of the workers, delays of the paper, steps that move these small problems visibly.
Options paper_options() {
  Options o;
  o.method = Method::kAdbo;
  o.active_workers = 3;
  o.max_staleness = 8;
  o.threads = 2;
  o.clock = ClockKind::kVirtual;
  o.delay = "lognormal:3.5,1";
  o.seed = 11;
  o.iterations = kIterations;
  o.stationarity_interval = 1;
  o.step_upper_local = 0.02;
  o.step_lower_local = 0.05;
  o.step_upper_consensus = 0.02;
  o.step_lower_consensus = 0.03;
  o.step_cut_multiplier = 0.5;
  o.step_consensus_dual = 0.05;
  o.step_lower_dual = 0.1;
  o.lower_penalty = 0.8;
  o.cut_interval = 5;
  o.lower_tolerance = 1e-3;
  return o;
}

/// The combination of rules of the authors' hyper-cleaning code.
Options code_options() {
  Options o = paper_options();
  o.regularization = RegularizationSchedule::kConstant;
  o.cut_regularization = 0.04;
  o.dual_regularization = 0.002;
  o.lower_round_order = LowerRoundOrder::kDualFirst;
  o.cut_phase = CutPhase::kFromStart;
  o.cut_rule = CutRule::kAlways;
  o.lower_tolerance = 0;
  o.drop_rule = DropRule::kBelowThreshold;
  o.cut_barrier = CutBarrier::kRestart;
  o.cut_gradient = CutGradient::kLocalFrozen;
  o.consensus = Consensus::kFull;
  return o;
}

Options with(Options options, const std::function<void(Options&)>& change) {
  change(options);
  return options;
}

std::vector<Scenario> make_scenarios() {
  const auto quadratic = [](const QuadraticShape& shape) {
    return [shape] { return quadratic_instance(shape); };
  };
  const auto logistic = [] { return logistic_tuning_instance({.num_workers = 5}); };
  const auto cleaning = [] { return hyper_cleaning_instance({.num_workers = 4}); };
  const QuadraticShape partial{.upper_dim = 6, .support_size = 3, .workers_without_x = 2};
  std::vector<Scenario> list;
  const auto add = [&list](std::string name, std::function<Instance()> instance, Options options,
                           Happened happened) {
    list.push_back({std::move(name), std::move(instance), std::move(options), happened});
  };

  add("quadratic, K = 1", quadratic({}), paper_options(), {.cuts_dropped = true});
  add("quadratic, K = 3", quadratic({}), with(paper_options(), [](Options& o) { o.lower_rounds = 3; }),
      {.cuts_dropped = true});
  add("quadratic, everybody awaited", quadratic({}),
      with(paper_options(),
           [](Options& o) {
             o.method = Method::kSdbo;
             o.active_workers = 0;
             o.lower_rounds = 2;
           }),
      {.cuts_dropped = true});
  add("quadratic, overlapping supports, some G without x", quadratic(partial),
      with(paper_options(), [](Options& o) { o.lower_rounds = 3; }), {});
  add("quadratic, overlapping supports, full copies", quadratic(partial),
      with(paper_options(),
           [](Options& o) {
             o.lower_rounds = 2;
             o.consensus = Consensus::kFull;
           }),
      {});
  add("quadratic, no G with x: x eliminated",
      quadratic({.upper_dim = 6, .support_size = 3, .upper_uses_x = false}),
      with(paper_options(), [](Options& o) { o.lower_rounds = 2; }), {});
  add("quadratic, stragglers and a small tau", quadratic({}),
      with(paper_options(),
           [](Options& o) {
             o.active_workers = 2;
             o.max_staleness = 4;
             o.stragglers = "2:10";
           }),
      {.overdue_waits = true});
  add("quadratic, tau = 1", quadratic({}),
      with(paper_options(),
           [](Options& o) {
             o.active_workers = 1;
             o.max_staleness = 1;
           }),
      {.overdue_waits = true});
  add("quadratic, no delays: answers in order of sending", quadratic({}),
      with(paper_options(),
           [](Options& o) {
             o.delay = "none";
             o.active_workers = 4;
             o.max_staleness = 3;
           }),
      {});
  add("quadratic, M reached", quadratic({}),
      with(paper_options(),
           [](Options& o) {
             o.cut_interval = 1;
             o.max_cuts = 3;
             o.lower_rounds = 2;
           }),
      {.cuts_evicted = true});
  add("quadratic, M reached, equal multipliers: the oldest goes", quadratic({}),
      with(paper_options(),
           [](Options& o) {
             o.cut_interval = 2;
             o.max_cuts = 4;
             o.multiplier_bound = 1e-6;  // all are at the bound soon
           }),
      {.cuts_evicted = true});
  add("quadratic, bounds on v, lambda and theta; floors; T1", quadratic({}),
      with(paper_options(),
           [](Options& o) {
             o.multiplier_bound = 0.01;
             o.dual_bound = 0.001;
             o.cut_regularization_floor = 0.9;
             o.dual_regularization_floor = 8;
             o.cut_until = 119;  // an update would be due after this very iteration
           }),
      {.bounds_met = true});
  list.back().instance = [] {
    Instance instance = quadratic_instance({});
    instance.plain.upper_lowest = -0.5;
    instance.plain.upper_highest = 0.75;
    instance.product.set_upper_bounds(-0.5, 0.75);
    return instance;
  };
  add("quadratic, steps of theorem 2", quadratic({}),
      with(paper_options(),
           [](Options& o) {
             o.steps = StepRule::kTheorem2;
             o.cut_regularization_floor = 5;
             o.dual_regularization_floor = 5;
             o.smoothness = 2;
             o.lower_tolerance = 1e-8;
             o.max_cuts = 4;
             o.max_staleness = 3;
           }),
      {});
  add("quadratic, the published code's combination", quadratic(partial), code_options(), {});
  add("quadratic, the published code's combination, M reached", quadratic(partial),
      with(code_options(),
           [](Options& o) {
             o.cut_interval = 3;
             o.max_cuts = 4;
             o.step_cut_multiplier = 0.05;
           }),
      {.cuts_evicted = true});
  add("quadratic, consensus first, local gradient, restart", quadratic({}),
      with(code_options(),
           [](Options& o) {
             o.lower_round_order = LowerRoundOrder::kConsensusFirst;
             o.cut_gradient = CutGradient::kLocal;
             o.lower_rounds = 2;
             o.consensus = Consensus::kGeneral;
           }),
      {});
  add("quadratic, restart with the paper's other rules", quadratic({}),
      with(paper_options(),
           [](Options& o) {
             o.cut_barrier = CutBarrier::kRestart;
             o.lower_rounds = 3;
             o.stragglers = "1:6";
             o.active_workers = 2;
           }),
      {.cuts_dropped = true});
  add("quadratic, dual first, local gradient, hold", quadratic({}),
      with(paper_options(),
           [](Options& o) {
             o.lower_round_order = LowerRoundOrder::kDualFirst;
             o.cut_gradient = CutGradient::kLocal;
             o.lower_rounds = 3;
           }),
      {});
  add("quadratic, some points within epsilon", quadratic({}),
      with(paper_options(),
           [](Options& o) {
             o.lower_rounds = 2;
             o.lower_tolerance = 0.4;
             o.step_cut_multiplier = 3;
           }),
      {.cuts_dropped = true, .updates_without_cut = true});
  add("one worker", quadratic({.num_workers = 1}),
      with(paper_options(), [](Options& o) { o.active_workers = 1; }), {});

  for (const std::int64_t rounds : {1, 3}) {
    const auto with_rounds = [rounds](Options& o) {
      o.lower_rounds = rounds;
      o.active_workers = 2;
      o.step_upper_consensus = 0.5;
    };
    const std::string suffix = ", K = " + std::to_string(rounds);
    add("logistic tuning" + suffix, logistic, with(paper_options(), with_rounds), {});
    add("hyper-cleaning" + suffix, cleaning, with(paper_options(), with_rounds), {});
  }
  add("logistic tuning, full copies, stragglers", logistic,
      with(paper_options(),
           [](Options& o) {
             o.consensus = Consensus::kFull;
             o.stragglers = "1:10";
             o.active_workers = 2;
             o.max_staleness = 4;
             o.lower_rounds = 3;
           }),
      {.overdue_waits = true});
  add("hyper-cleaning, full copies", cleaning,
      with(paper_options(),
           [](Options& o) {
             o.consensus = Consensus::kFull;
             o.active_workers = 2;
           }),
      {});
  add("hyper-cleaning, everybody awaited", cleaning,
      with(paper_options(),
           [](Options& o) {
             o.method = Method::kSdbo;
             o.active_workers = 0;
           }),
      {});
  add("hyper-cleaning, the published code's combination", cleaning,
      with(code_options(), [](Options& o) { o.active_workers = 2; }), {});
  add("logistic tuning, the published coefficient code's combination", logistic,
      with(code_options(),
           [](Options& o) {
             o.lower_round_order = LowerRoundOrder::kConsensusFirst;
             o.cut_gradient = CutGradient::kLocal;
           }),
      {});
  return list;
}

}  // namespace

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> list = make_scenarios();
  return list;
}

}  // namespace adbo::conformance
