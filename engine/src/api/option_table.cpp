#include "adbo/option_table.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <numeric>
#include <optional>
#include <system_error>

#include "adbo/method_table.h"
#include "runtime/delay_model.h"

namespace adbo {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();
/// Doubles hold every integer up to here; a larger limit in the table would be rounded.
constexpr double kMaxExactInteger = 9007199254740992.0;
/// More threads than any machine has: a slip of the keyboard rather than a wish.
constexpr double kMaxThreads = 4096;

template <auto kMember>
OptionInfo::Choice choice_of() {
  using Enum = std::remove_reference_t<decltype(std::declval<Options&>().*kMember)>;
  return {[](const Options& options) { return static_cast<int>(options.*kMember); },
          [](Options& options, int index) { options.*kMember = static_cast<Enum>(index); }};
}

// Ranges, so that a row of the table reads as a sentence.
struct Range {
  double lowest = -kNoLimit;
  double highest = kNoLimit;
  bool lowest_exclusive = false;
};
constexpr Range at_least(double lowest) { return {lowest, kNoLimit, false}; }
constexpr Range above(double lowest) { return {lowest, kNoLimit, true}; }
constexpr Range between(double lowest, double highest) { return {lowest, highest, false}; }

struct Row {
  std::string_view name;
  std::string_view symbol = "";
  std::string_view unit = "";
  std::vector<std::string_view> aliases = {};
};

/// Collects the rows of one group after the other.
class TableBuilder {
 public:
  void group(std::string_view name) { group_ = name; }

  template <class Number>
  void number(Row row, Number Options::*member, Range range, std::string_view sentence) {
    OptionInfo& info = add(std::move(row), member, sentence);
    info.lowest = range.lowest;
    info.highest = range.highest;
    info.lowest_exclusive = range.lowest_exclusive;
  }
  void choice(Row row, OptionInfo::Choice member, std::vector<std::string_view> choices,
              std::string_view sentence) {
    add(std::move(row), member, sentence).choices = std::move(choices);
  }
  /// `grammar` lists the accepted forms, for --help and messages.
  void text(Row row, std::string Options::*member, std::vector<std::string_view> grammar,
            std::string_view sentence) {
    add(std::move(row), member, sentence).choices = std::move(grammar);
  }

  [[nodiscard]] std::vector<OptionInfo> take() { return std::move(table_); }

 private:
  OptionInfo& add(Row row, OptionInfo::Member member, std::string_view sentence) {
    OptionInfo& info = table_.emplace_back();
    info.name = row.name;
    info.group = group_;
    info.member = member;
    info.unit = row.unit;
    info.symbol = row.symbol;
    info.sentence = sentence;
    info.aliases = std::move(row.aliases);
    return info;
  }

  std::string_view group_;
  std::vector<OptionInfo> table_;
};

std::vector<std::string_view> method_names() {
  std::vector<std::string_view> names;
  for (const MethodInfo& info : method_table()) names.push_back(info.name);
  return names;
}

void add_asynchrony(TableBuilder& table) {
  table.group("Asynchrony");
  table.choice({.name = "method"}, choice_of<&Options::method>(), method_names(),
               "Solution method: adbo info describes each.");
  table.number({.name = "active_workers", .symbol = "S", .aliases = {"active", "S", "active_set"}},
               &Options::active_workers, at_least(0),
               "Answers the master waits for in an iteration; 0: half of the workers, rounded up.");
  table.number(
      {.name = "max_staleness", .symbol = "tau", .unit = "iterations", .aliases = {"tau"}},
      &Options::max_staleness, between(0, 1e6),
      "Longest silence of a worker: the master waits for one that would exceed it; 0: 15, or 60 where "
      "the method brings late contributions up to date (docs/practical.md).");
  table.number({.name = "threads"}, &Options::threads, between(0, kMaxThreads),
               "Threads that workers run on; 0: as many as there are processors.");
  table.choice({.name = "executor"}, choice_of<&Options::executor>(), {"tbb", "threads", "inline"},
               "What runs the workers: oneTBB's task arena, plain threads, or the calling thread alone.");
  table.choice({.name = "clock"}, choice_of<&Options::clock>(), {"real", "virtual"},
               "Whether answers arrive when they do, or in the order and at the time of the delay model "
               "(the same bits for any number of threads).");
  table.text(
      {.name = "delay", .unit = "milliseconds"}, &Options::delay,
      {"none", "lognormal:MU,SIGMA (MU <= 20, 0 <= SIGMA <= 20)"},
      "Injected delay of every answer: none, or exp(MU + SIGMA n) with n standard normal (MU and SIGMA at "
      "most 20; no delay is longer than three years).");
  table.text({.name = "stragglers"}, &Options::stragglers, {"none", "K:FACTOR"},
             "The first K workers take FACTOR (more than 0) times the delay.");
  table.number({.name = "seed"}, &Options::seed, at_least(0), "Seed of every random draw of the run.");
}

void add_failures(TableBuilder& table) {
  table.group("Workers that fail");
  table.choice(
      {.name = "worker_failure"}, choice_of<&Options::worker_failure>(), {"fail", "drop"},
      "When a worker throws, gives what is not finite, or is late: the run ends, or goes on without it.");
  table.number({.name = "worker_retries"}, &Options::worker_retries, between(0, 1e6),
               "Times that a failed answer is asked for again first.");
  table.number({.name = "worker_deadline", .unit = "seconds"}, &Options::worker_deadline_seconds, at_least(0),
               "Longest computation of an answer, from when a thread began it; 0: as long as it takes.");
}

void add_limits(TableBuilder& table) {
  table.group("Limits");
  table.number({.name = "iterations", .symbol = "T"}, &Options::iterations, at_least(0),
               "Most master iterations; 0: evaluate the start.");
  table.number({.name = "time_limit", .unit = "seconds", .aliases = {"time_limit_seconds"}},
               &Options::time_limit_seconds, at_least(0),
               "Most wall-clock time: of the command from its start but for measuring, of the iterations for "
               "embedders and in comparisons; 0: no limit.");
  table.number({.name = "stationarity_target", .symbol = "epsilon"}, &Options::stationarity_target,
               at_least(0),
               "The run ends as converged when the squared stationarity gap (Definition 1) is at or below "
               "this; 0: never.");
  table.number({.name = "stationarity_interval", .unit = "iterations"}, &Options::stationarity_interval,
               at_least(0), "Iterations from one measurement of the stationarity gap to the next; 0: none.");
}

void add_steps(TableBuilder& table) {
  table.group("Step sizes");
  table.choice({.name = "steps"}, choice_of<&Options::steps>(), {"auto", "fixed", "theorem2"},
               "auto: with cuts = implicit chosen while running, those of y from the curvature seen, those "
               "of the upper "
               "variable as in async-hypergradient; the step sizes below with cuts = unrolled; fixed: those "
               "below; theorem2: those of "
               "Theorem 2 from smoothness, drift_constant, theorem_gamma and the two regularization floors.");
  table.number({.name = "step_upper_local", .symbol = "eta_x", .aliases = {"hp_lr"}},
               &Options::step_upper_local, above(0),
               "Step of a worker's copy of the upper variable (new_25).");
  table.number({.name = "step_lower_local", .symbol = "eta_y", .aliases = {"w_lr"}},
               &Options::step_lower_local, above(0),
               "Step of a worker's copy of the lower variable (new_26) and of its lower rounds (97_35).");
  table.number({.name = "step_upper_consensus", .symbol = "eta_v", .aliases = {"v_lr"}},
               &Options::step_upper_consensus, above(0),
               "Step of the consensus of the upper variable (new_27).");
  table.number({.name = "step_lower_consensus", .symbol = "eta_z", .aliases = {"z_lr"}},
               &Options::step_lower_consensus, above(0),
               "Step of the consensus of the lower variable (new_28) and of its lower rounds (97_36).");
  table.number({.name = "step_cut_multiplier", .symbol = "eta_lambda", .aliases = {"lbda_lr"}},
               &Options::step_cut_multiplier, above(0), "Step of the multipliers of the cuts (new_29).");
  table.number({.name = "step_consensus_dual", .symbol = "eta_theta", .aliases = {"theta_lr"}},
               &Options::step_consensus_dual, above(0), "Step of the duals of x_i = v (new_30).");
  table.number({.name = "step_lower_dual", .symbol = "eta_phi", .aliases = {"phi_lr"}},
               &Options::step_lower_dual, above(0), "Step of the duals of the lower rounds (97_37).");
  table.number({.name = "smoothness", .symbol = "L"}, &Options::smoothness, above(0),
               "Smoothness constant of Assumption 1, for steps = theorem2.");
  table.number({.name = "drift_constant", .symbol = "k_1"}, &Options::drift_constant, above(0),
               "Drift constant of Assumption 2, for steps = theorem2.");
  table.number({.name = "theorem_gamma", .symbol = "gamma"}, &Options::theorem_gamma, above(2),
               "Constant gamma of Theorem 2, for steps = theorem2.");
}

void add_regularization(TableBuilder& table) {
  table.group("Regularization of the Lagrangian");
  table.choice({.name = "regularization"}, choice_of<&Options::regularization>(), {"decaying", "constant"},
               "c1_t and c2_t decay as (t+1)^(-1/4) / step, as in the paper, or stay constant, as in its "
               "authors' code.");
  table.number({.name = "cut_regularization", .symbol = "c_1", .aliases = {"c1"}},
               &Options::cut_regularization, at_least(0),
               "Regularization of the cuts' multipliers (new_24) when constant.");
  table.number({.name = "dual_regularization", .symbol = "c_2", .aliases = {"c2"}},
               &Options::dual_regularization, at_least(0),
               "Regularization of the consensus duals (new_24) when constant.");
  table.number({.name = "cut_regularization_floor", .symbol = "c_1"}, &Options::cut_regularization_floor,
               at_least(0), "Lower bound of c1_t when decaying.");
  table.number({.name = "dual_regularization_floor", .symbol = "c_2"}, &Options::dual_regularization_floor,
               at_least(0), "Lower bound of c2_t when decaying.");
  table.number({.name = "multiplier_bound", .symbol = "alpha_3"}, &Options::multiplier_bound, at_least(0),
               "Upper bound of the square of a cut's multiplier; 0: none.");
  table.number({.name = "dual_bound", .symbol = "alpha_4"}, &Options::dual_bound, at_least(0),
               "Upper bound of the squared norm of a consensus dual; 0: none.");
}

void add_cuts(TableBuilder& table) {
  table.group("Lower rounds and cuts");
  table.choice({.name = "cuts"}, choice_of<&Options::cuts>(), {"unrolled", "implicit"},
               "Cuts from unrolled lower rounds, for which all workers are awaited (paper), or from running "
               "estimates of the lower solution and the adjoint, for which nobody is.");
  table.choice(
      {.name = "multipliers"}, choice_of<&Options::multipliers>(), {"auto", "ascent", "exact"},
      "Multipliers of the cuts: steps of ascent (new_29), or the solution of a small quadratic "
      "program in every iteration (cuts = implicit, or cpbo); auto: exact with cuts = implicit, ascent "
      "otherwise.");
  table.choice({.name = "lower_copies"}, choice_of<&Options::lower_copies>(), {"local", "eliminated"},
               "With cuts = implicit: a copy of the lower variable per worker, or the consensus alone.");
  table.number({.name = "lower_rounds", .symbol = "K", .aliases = {"phix_iter"}}, &Options::lower_rounds,
               between(1, 1000), "Rounds of the estimate of the lower solution (97_35 to 97_37).");
  table.number({.name = "lower_penalty", .symbol = "mu", .aliases = {"mu"}}, &Options::lower_penalty,
               above(0), "Penalty of the lower consensus y'_i = z' in those rounds.");
  table.choice({.name = "lower_round_order"}, choice_of<&Options::lower_round_order>(),
               {"paper", "dual-first", "consensus-first"},
               "Order within a round: y', z', dual from the old y' (paper); y', dual, z', or y', z', dual "
               "from the new y' (the authors' codes).");
  table.number(
      {.name = "cut_interval", .symbol = "k_pre", .unit = "iterations", .aliases = {"pre_epochs"}},
      &Options::cut_interval, at_least(0),
      "Iterations from one polytope update to the next; 0: 50 with cuts = unrolled, 1 with implicit.");
  table.choice({.name = "cut_phase"}, choice_of<&Options::cut_phase>(), {"after-interval", "from-start"},
               "First polytope update after a whole interval (paper), or after the first iteration (the "
               "authors' code).");
  table.number({.name = "cut_until", .symbol = "T_1", .unit = "iterations"}, &Options::cut_until,
               at_least(-1),
               "The polytope is updated before this iteration only; -1: as long as the run lasts.");
  table.number({.name = "max_cuts", .symbol = "M"}, &Options::max_cuts, between(1, 1e6),
               "Most cuts alive; when full, the one with the smallest multiplier goes.");
  table.number({.name = "lower_tolerance", .symbol = "epsilon"}, &Options::lower_tolerance, at_least(0),
               "Level of the squared distance h that a cut asks for.");
  table.choice({.name = "cut_rule"}, choice_of<&Options::cut_rule>(), {"violated", "always"},
               "Which points get a cut: those with h above lower_tolerance (paper), or all (the authors' "
               "code).");
  table.choice({.name = "drop_rule"}, choice_of<&Options::drop_rule>(), {"twice-zero", "below-threshold"},
               "Which cuts go: multiplier zero at two consecutive iterations (97_new_35), or below 1e-10 "
               "once (the authors' code).");
  table.choice({.name = "cut_barrier"}, choice_of<&Options::cut_barrier>(), {"hold", "restart"},
               "Answers in flight at a polytope update wait for the next iteration, or are discarded and "
               "every worker starts anew (the authors' code).");
  table.choice({.name = "cut_gradient"}, choice_of<&Options::cut_gradient>(),
               {"exact", "local", "local-frozen"},
               "dh/dv through all rounds with their coupling; through the worker's own rounds; or through "
               "those without the Hessian terms (the authors' codes).");
  table.choice({.name = "consensus"}, choice_of<&Options::consensus>(), {"general", "full"},
               "Workers carry their part of the upper variable alone, or all of it as in the paper.");
}

void add_hypergradient(TableBuilder& table) {
  table.group("Asynchronous hypergradient");
  table.number({.name = "upper_rate"}, &Options::upper_rate, at_least(0),
               "How far a coordinate of the upper variable moves per iteration at first; 0: automatic.");
  table.number(
      {.name = "adjoint_damping"}, &Options::adjoint_damping, at_least(-1),
      "Added to the lower Hessian in the adjoint's equation, in units of its mean eigenvalue; -1: from "
      "the number of validation samples where the upper variable has a coordinate per training row, "
      "0 otherwise.");
}

void add_hypergradient_methods(TableBuilder& table) {
  table.group("Hypergradient methods");
  table.number({.name = "step_upper"}, &Options::step_upper, above(0),
               "Step of the upper variable along the estimated hypergradient.");
  table.number({.name = "step_lower"}, &Options::step_lower, at_least(0),
               "Step of the lower variable; 0: 1 / L, with L the largest eigenvalue of the lower Hessian at "
               "the start (the largest over the workers where they step by themselves; half of it where they "
               "step along trackers).");
  table.number({.name = "step_adjoint"}, &Options::step_adjoint, at_least(0),
               "Step of the adjoint's estimate; 0: as step_lower.");
  table.number({.name = "step_decay"}, &Options::step_decay, between(0, 1),
               "Steps of iteration t are multiplied by (1 + t)^(-step_decay).");
  table.number({.name = "lower_steps"}, &Options::lower_steps, between(1, 1e6),
               "Steps of the lower variable within an iteration.");
  table.number({.name = "adjoint_steps"}, &Options::adjoint_steps, between(1, 1e6),
               "Steps of the adjoint's solver, or terms of its series, within an iteration.");
  table.number({.name = "batch_rows", .unit = "rows"}, &Options::batch_rows, at_least(0),
               "Rows of a mini-batch, per worker; 0: all of them.");
}

void add_stochastic(TableBuilder& table) {
  table.group("Stochastic methods");
  table.number(
      {.name = "move_limit"}, &Options::move_limit, between(0, 1),
      "Largest move of a coordinate of the upper variable in one step, as a share of the width of its "
      "bounds; 0: none.");
}

void add_vrbo(TableBuilder& table) {
  table.group("VRBO");
  table.number({.name = "vrbo_period", .symbol = "q"}, &Options::vrbo_period, between(1, 1e9),
               "Iterations from one evaluation of all rows to the next.");
}

void add_stable(TableBuilder& table) {
  table.group("STABLE");
  table.number(
      {.name = "stable_weight", .symbol = "tau"}, &Options::stable_weight, between(0, 1),
      "Share of the estimated Hessian and cross derivative that is not carried over from the iteration "
      "before; 1: none is carried over.");
}

void add_exact(TableBuilder& table) {
  table.group("Exact hypergradient");
  table.number({.name = "hypergradient_tolerance"}, &Options::hypergradient_tolerance, above(0),
               "The run ends as converged when the norm of the projected hypergradient is at most this times "
               "1 + |F|.");
}

void add_f2sa(TableBuilder& table) {
  table.group("F2SA");
  table.number(
      {.name = "f2sa_multiplier", .symbol = "lambda_0"}, &Options::f2sa_multiplier, above(0),
      "Multiplier of the lower level's penalty at the start; the hypergradient's bias is of the order of "
      "1 / multiplier.");
  table.number({.name = "f2sa_growth"}, &Options::f2sa_growth, between(0, 2),
               "The multiplier of iteration t is f2sa_multiplier (1 + t)^f2sa_growth.");
}

void add_fednest(TableBuilder& table) {
  table.group("FedNest");
  table.choice({.name = "fednest_variant"}, choice_of<&Options::fednest_variant>(), {"full", "light"},
               "full: local steps corrected by the mean gradient, hypergradient from everybody; light: "
               "uncorrected local steps, every worker's hypergradient by its own Hessian.");
  table.number({.name = "fednest_rounds", .symbol = "T"}, &Options::fednest_rounds, between(1, 1e6),
               "Inner rounds of an iteration, each of lower_steps local steps.");
  table.number({.name = "upper_steps"}, &Options::upper_steps, between(1, 1e6),
               "Local steps of the upper variable within an iteration.");
}

void add_decentralized(TableBuilder& table) {
  table.group("Decentralized");
  table.choice({.name = "graph"}, choice_of<&Options::graph>(), {"ring", "random", "complete"},
               "Who talks to whom; weights are those of Metropolis.");
  table.number({.name = "graph_probability"}, &Options::graph_probability, between(0, 1),
               "Probability of an edge with graph = random; a ring beneath keeps the graph connected.");
  table.choice(
      {.name = "dsbo_variant"}, choice_of<&Options::dsbo_variant>(), {"tracking", "gossip"},
      "tracking: all steps along trackers of the agents' mean direction, without a floor at constant "
      "steps, for more bytes; gossip: as published.");
  table.number({.name = "dsbo_averaging", .symbol = "alpha"}, &Options::dsbo_averaging, {0, 1, true},
               "Weight of the newest hypergradient in an agent's moving average.");
  table.number({.name = "spdb_penalty", .symbol = "rho"}, &Options::spdb_penalty, {0, 1, true},
               "Penalty of the augmented Lagrangian, in units of 1 / step.");
}

std::vector<OptionInfo> build_table() {
  TableBuilder table;
  add_asynchrony(table);
  add_failures(table);
  add_limits(table);
  add_steps(table);
  add_regularization(table);
  add_cuts(table);
  add_hypergradient(table);
  add_hypergradient_methods(table);
  add_stochastic(table);
  add_vrbo(table);
  add_stable(table);
  add_exact(table);
  add_f2sa(table);
  add_fednest(table);
  add_decentralized(table);
  return table.take();
}

// ---------------------------------------------------------------------------------------------------------
// Numbers and words

/// Strict: the whole text, no sign "+", no blanks, no locale.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

template <class Number>
std::string to_text(Number value) {
  std::array<char, 32> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return error == std::errc() ? std::string(buffer.data(), end) : std::string("?");
}

/// A limit as people write it: 5 rather than 5.0, 4096 rather than 4.096e+03.
std::string limit_text(double limit) {
  if (std::abs(limit) < kMaxExactInteger && limit == std::floor(limit)) {
    return to_text(static_cast<std::int64_t>(limit));
  }
  return to_text(limit);
}

std::string quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

std::string joined(std::span<const std::string_view> words) {
  std::string text;
  for (const std::string_view word : words) {
    if (!text.empty()) text += ", ";
    text += word;
  }
  return text;
}

bool is_integer(const OptionInfo& info) {
  return std::holds_alternative<std::int64_t Options::*>(info.member) ||
         std::holds_alternative<std::uint64_t Options::*>(info.member);
}

/// "an integer >= 1 (iterations)", "one of adbo, sdbo".
std::string expectation(const OptionInfo& info) {
  if (!info.choices.empty()) return "one of " + joined(info.choices);
  std::string text = is_integer(info) ? "an integer" : "a number";
  if (info.lowest > -kNoLimit) text += (info.lowest_exclusive ? " > " : " >= ") + limit_text(info.lowest);
  if (info.highest < kNoLimit) text += " and <= " + limit_text(info.highest);
  if (!info.unit.empty()) text += " (" + std::string(info.unit) + ")";
  return text;
}

Status refused(const OptionInfo& info, std::string_view value) {
  return {StatusCode::kInvalidOption,
          std::string(info.name) + " = " + quoted(value) + ": expected " + expectation(info)};
}

bool in_range(const OptionInfo& info, double value) {
  if (!std::isfinite(value)) return false;
  return (info.lowest_exclusive ? value > info.lowest : value >= info.lowest) && value <= info.highest;
}

bool grammar_holds(std::string Options::*member, std::string_view text) {
  if (member == &Options::delay) return detail::parse_delay(text).has_value();
  if (member == &Options::stragglers) return detail::parse_stragglers(text).has_value();
  return true;
}

// ---------------------------------------------------------------------------------------------------------
// Visitors over the kind of a member: set from text, check what is there, write as text

struct Setter {
  Options& options;
  const OptionInfo& info;
  std::string_view value;

  template <class Number>
  bool operator()(Number Options::*member) const {
    const std::optional<Number> number = parse_number<Number>(value);
    if (!number || !in_range(info, static_cast<double>(*number))) return false;
    options.*member = *number;
    return true;
  }
  bool operator()(std::string Options::*member) const {
    if (!grammar_holds(member, value)) return false;
    options.*member = std::string(value);
    return true;
  }
  bool operator()(const OptionInfo::Choice& choice) const {
    const auto found = std::find(info.choices.begin(), info.choices.end(), value);
    if (found == info.choices.end()) return false;
    choice.set(options, static_cast<int>(found - info.choices.begin()));
    return true;
  }
};

struct RangeCheck {
  const Options& options;
  const OptionInfo& info;

  template <class Number>
  bool operator()(Number Options::*member) const {
    return in_range(info, static_cast<double>(options.*member));
  }
  bool operator()(std::string Options::*member) const { return grammar_holds(member, options.*member); }
  bool operator()(const OptionInfo::Choice& choice) const {
    const int index = choice.get(options);
    return index >= 0 && static_cast<std::size_t>(index) < info.choices.size();
  }
};

struct Writer {
  const Options& options;
  const OptionInfo& info;

  template <class Number>
  std::string operator()(Number Options::*member) const {
    return to_text(options.*member);
  }
  std::string operator()(std::string Options::*member) const { return options.*member; }
  std::string operator()(const OptionInfo::Choice& choice) const {
    const int index = choice.get(options);
    const bool known = index >= 0 && static_cast<std::size_t>(index) < info.choices.size();
    return known ? std::string(info.choices[static_cast<std::size_t>(index)]) : to_text(index);
  }
};

// ---------------------------------------------------------------------------------------------------------
// Names

char folded(char c, bool keep_case) {
  if (c == '-') return '_';
  return keep_case ? c : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return folded(x, true) == folded(y, true); });
}

/// Insertions, deletions, replacements and swaps of neighbours between two names, case aside.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), current(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = folded(a[i - 1], false) == folded(b[j - 1], false);
      current[j] = std::min({last[j] + 1, current[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && folded(a[i - 1], false) == folded(b[j - 2], false) &&
                           folded(a[i - 2], false) == folded(b[j - 1], false);
      if (swapped) current[j] = std::min(current[j], before_last[j - 2] + 1);
    }
    before_last.swap(last);
    last.swap(current);
  }
  return last[b.size()];
}

/// A third of the letters may be wrong: farther names would be guesses.
std::size_t nearest_tolerance(std::string_view name) { return name.size() / 3; }

// ---------------------------------------------------------------------------------------------------------
// What the options mean together

Status invalid(std::string message) { return {StatusCode::kInvalidOption, std::move(message)}; }

Status check_ranges(const Options& options) {
  for (const OptionInfo& info : option_table()) {
    if (!std::visit(RangeCheck{options, info}, info.member)) {
      return refused(info, option_value(options, info));
    }
  }
  return {};
}

Status check_workers(const Options& options, std::int64_t num_workers) {
  const std::string workers = to_text(num_workers) + " workers";
  if (options.active_workers > num_workers) {
    return invalid("active_workers = " + to_text(options.active_workers) + " exceeds the " + workers +
                   ": expected 1 to " + to_text(num_workers) + ", or 0 for half of them");
  }
  const bool waits_for_all = method_info(options.method).pace != Pace::kArrivals;
  if (waits_for_all && options.active_workers != 0 && options.active_workers != num_workers) {
    return invalid("active_workers = " + to_text(options.active_workers) + " with method = " +
                   option_value(options, *find_option("method")) + ", which waits for all " + workers +
                   ": leave active_workers out, or choose method = adbo");
  }
  return {};
}

Status check_delays(const Options& options, std::int64_t num_workers) {
  const std::int64_t count = detail::parse_stragglers(options.stragglers)->count;
  if (count > num_workers) {
    return invalid("stragglers = " + quoted(options.stragglers) + ": " + to_text(count) +
                   " stragglers exceed the " + to_text(num_workers) + " workers");
  }
  if (count > 0 && detail::parse_delay(options.delay)->none) {
    return invalid("stragglers = " + quoted(options.stragglers) +
                   " has no effect with delay = none: stragglers multiply the injected delay, for example "
                   "delay = lognormal:3.5,1");
  }
  return {};
}

Status check_steps(const Options& options) {
  if (options.steps != StepRule::kTheorem2) return {};
  if (options.regularization != RegularizationSchedule::kDecaying) {
    return invalid("steps = theorem2 needs regularization = decaying, the schedule Theorem 2 assumes");
  }
  for (const auto& [name, floor] :
       {std::pair{"cut_regularization_floor", options.cut_regularization_floor},
        std::pair{"dual_regularization_floor", options.dual_regularization_floor}}) {
    if (floor <= 0) {
      return invalid("steps = theorem2 needs " + std::string(name) + " > 0, found " + to_text(floor) +
                     ": the step sizes of Theorem 2 are computed from it");
    }
  }
  return {};
}

Status check_cuts(const Options& options) {
  if (options.cut_gradient == CutGradient::kExact && options.lower_round_order != LowerRoundOrder::kPaper) {
    return invalid(
        "cut_gradient = exact needs lower_round_order = paper; the other orders go with cut_gradient = local "
        "or local-frozen");
  }
  return {};
}

/// The quadratic program for exact multipliers is solved in every iteration.
Status check_exact_multipliers(const Options& options, std::string_view with) {
  constexpr std::int64_t kMostCuts = 100;
  if (options.max_cuts <= kMostCuts) return {};
  return invalid("max_cuts = " + to_text(options.max_cuts) + " with " + std::string(with) + ": at most " +
                 to_text(kMostCuts) + ", the multipliers are solved for exactly in every iteration");
}

/// Implicit cuts are a construction of their own: what belongs to unrolled ones does not go with them.
Status check_implicit_cuts(const Options& options) {
  const bool implicit = options.cuts == CutConstruction::kImplicit;
  if (!implicit) {
    if (options.multipliers != MultiplierRule::kExact) return {};
    if (options.method == Method::kCpbo) return check_exact_multipliers(options, "multipliers = exact");
    return invalid(
        "multipliers = exact needs cuts = implicit: with unrolled cuts the workers do not send what "
        "the exact multipliers are made of");
  }
  if (!acts_on(*find_option("cuts"), options.method)) {
    return invalid("cuts = implicit belongs to method = adbo or sdbo: " +
                   method_name(settled(options.method)) + " has no cuts");
  }
  if (options.steps == StepRule::kTheorem2) {
    return invalid("steps = theorem2 needs cuts = unrolled, the cuts Theorem 2 is about");
  }
  if (options.multipliers == MultiplierRule::kAscent && options.steps == StepRule::kAuto) {
    return invalid(
        "multipliers = ascent with cuts = implicit needs steps = fixed: no rule gives the step of "
        "the ascent");
  }
  if (options.consensus == Consensus::kFull) {
    return invalid(
        "consensus = full needs cuts = unrolled: with implicit cuts the workers carry no copies of "
        "the upper variable");
  }
  return check_exact_multipliers(options, "cuts = implicit");
}

Status check_stationarity(const Options& options) {
  if (options.stationarity_target > 0 && options.stationarity_interval == 0) {
    return invalid("stationarity_target = " + to_text(options.stationarity_target) +
                   " needs stationarity_interval >= 1: the gap is never measured otherwise");
  }
  return {};
}

}  // namespace

std::span<const OptionInfo> option_table() {
  static const std::vector<OptionInfo> table = build_table();
  return table;
}

const OptionInfo* find_option(std::string_view name) {
  for (const OptionInfo& info : option_table()) {
    if (same_name(info.name, name)) return &info;
    for (const std::string_view alias : info.aliases) {
      if (same_name(alias, name)) return &info;
    }
  }
  return nullptr;
}

std::string_view nearest_option(std::string_view name) {
  std::string_view nearest;
  std::size_t best = nearest_tolerance(name) + 1;
  const auto consider = [&](std::string_view candidate) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  };
  for (const OptionInfo& info : option_table()) {
    consider(info.name);
    for (const std::string_view alias : info.aliases) consider(alias);
  }
  return nearest;
}

Status set_option(Options& options, std::string_view name, std::string_view value) {
  const OptionInfo* const info = find_option(name);
  if (info == nullptr) {
    const std::string_view nearest = nearest_option(name);
    std::string message = "there is no option " + quoted(name);
    if (!nearest.empty()) message += "; did you mean " + quoted(nearest) + "?";
    return invalid(std::move(message));
  }
  if (!std::visit(Setter{options, *info, value}, info->member)) return refused(*info, value);
  return {};
}

std::string option_value(const Options& options, const OptionInfo& info) {
  return std::visit(Writer{options, info}, info.member);
}

Status validate_options(const Options& options, std::size_t num_workers) {
  const auto workers = static_cast<std::int64_t>(num_workers);
  Status status = check_ranges(options);
  if (status.ok()) status = check_workers(options, workers);
  if (status.ok()) status = check_delays(options, workers);
  if (status.ok()) status = check_steps(options);
  if (status.ok()) status = check_cuts(options);
  if (status.ok()) status = check_implicit_cuts(options);
  if (status.ok()) status = check_stationarity(options);
  return status;
}

}  // namespace adbo
