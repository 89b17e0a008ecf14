#include "support/reference/reference_adbo.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "support/reference/reference_random.h"

namespace adbo::reference {
namespace {

constexpr double kNotYet = std::numeric_limits<double>::quiet_NaN();

/// exp(MU + SIGMA n) milliseconds, multiplied by FACTOR for the first COUNT workers.
struct Delays {
  bool any = false;
  double mu = 0, sigma = 0;
  std::size_t stragglers = 0;
  double factor = 1;
  std::vector<DelayStream> streams;

  Delays(const Options& options, std::size_t num_workers) {
    if (options.delay != "none") {
      any = true;
      const std::size_t colon = options.delay.find(':');
      const std::size_t comma = options.delay.find(',');
      mu = std::stod(options.delay.substr(colon + 1, comma - colon - 1));
      sigma = std::stod(options.delay.substr(comma + 1));
    }
    if (options.stragglers != "none") {
      const std::size_t colon = options.stragglers.find(':');
      stragglers = std::stoul(options.stragglers.substr(0, colon));
      factor = std::stod(options.stragglers.substr(colon + 1));
    }
    for (std::size_t i = 0; i < num_workers; ++i) streams.emplace_back(options.seed, i);
  }

  double draw_seconds(std::size_t worker) {
    if (!any) return 0;
    const double milliseconds = std::exp(mu + sigma * streams[worker].standard_normal());
    return milliseconds * 1e-3 * (worker < stragglers ? factor : 1.0);
  }
};

struct Cut {
  Vector a;
  std::vector<Vector> b;
  Vector c;
  double kappa = 0;
  double multiplier = 0;           // lambda_l
  double previous_multiplier = 0;  // after the iteration before; a new cut's counts as zero
};

struct Worker {
  // The worker's own state, and the master's knowledge of it.
  Vector x, y;
  Vector known_x, known_y;
  Vector theta;
  std::int64_t last_active = -1;
  // G_i where its last step began, and where the last accepted one did; NaN before.
  double upper_value = 0, known_upper_value = kNotYet;
  // Its copy of x: coordinates [begin, begin + size) of v; empty where x_i is eliminated.
  Index begin = 0, size = 0;
};

/// An answer that is on its way to the master.
struct Answer {
  std::size_t worker;
  double due_seconds;
};

class Adbo {
 public:
  Adbo(const Problem& problem, const Options& options)
      : problem_(problem),
        options_(options),
        steps_(step_sizes(options, problem.num_workers())),
        delays_(options, problem.num_workers()),
        v_(problem.upper_start),
        z_(problem.lower_start),
        workers_(problem.num_workers()) {
    const bool any_uses_x = std::any_of(problem.workers.begin(), problem.workers.end(),
                                        [](const Objective& o) { return o.upper_uses_x; });
    eliminated_ = options.consensus == Consensus::kGeneral && !any_uses_x;
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      Worker& w = workers_[i];
      const Objective& objective = problem.workers[i];
      if (options.consensus == Consensus::kFull) {
        w.size = problem.upper_dim;
      } else if (!eliminated_) {
        w.begin = objective.begin;
        w.size = objective.size;
      }
      w.x = w.known_x = v_.segment(w.begin, w.size);
      w.y = w.known_y = problem.local_starts.empty() ? z_ : problem.local_starts[i];
      w.theta = problem.dual_start.segment(w.begin, w.size);
    }
    v_ = v_.cwiseMax(problem.upper_lowest).cwiseMin(problem.upper_highest);
  }

  Run run(std::int64_t iterations) {
    Run result;
    for (std::size_t i = 0; i < workers_.size(); ++i) answer(i);
    for (std::int64_t t = 0; t < iterations; ++t) {
      const std::vector<std::size_t> active = collect_active_set(t);
      for (const std::size_t i : active) {
        workers_[i].known_x = workers_[i].x;
        workers_[i].known_y = workers_[i].y;
        workers_[i].known_upper_value = workers_[i].upper_value;
        workers_[i].last_active = t;
      }
      master_step(t, active);
      bool everybody_anew = false;
      if (update_is_due(t)) {
        everybody_anew = options_.cut_barrier == CutBarrier::kRestart;
        update_polytope(active);
      }
      if (everybody_anew) {
        for (std::size_t i = 0; i < workers_.size(); ++i) {
          workers_[i].last_active = t;
          answer(i);
        }
      } else {
        for (const std::size_t i : active) answer(i);
      }
      result.iterations.push_back(record(t, active));
    }
    result.totals = totals_;
    return result;
  }

 private:
  // ---- the worker

  /// The slice of a worker's copy x_i that its objectives see.
  [[nodiscard]] Vector seen_part(std::size_t i, const Vector& x) const {
    const Objective& objective = problem_.workers[i];
    if (eliminated_) return v_.segment(objective.begin, objective.size);  // G_i does not look at it
    return x.segment(objective.begin - workers_[i].begin, objective.size);
  }

  /// grad_x G_i on the coordinates of x_i: zero outside the worker's support.
  [[nodiscard]] Vector upper_gradient_x(std::size_t i, const Vector& x, const Vector& y) const {
    const Objective& objective = problem_.workers[i];
    const Worker& w = workers_[i];
    Vector gradient = Vector::Zero(w.size);
    if (!eliminated_)
      gradient.segment(objective.begin - w.begin, objective.size) =
          objective.upper_gradient_x(seen_part(i, x), y);
    return gradient;
  }

  [[nodiscard]] Vector lagrangian_gradient_y(std::size_t i, const Vector& x, const Vector& y) const {
    Vector gradient = problem_.workers[i].upper_gradient_y(seen_part(i, x), y);
    for (const Cut& cut : cuts_) gradient += cut.multiplier * cut.b[i];
    return gradient;
  }

  /// The master answers worker i with its present values; the worker makes its step (new_25, new_26) with
  /// them and its own answer is under way. The step is made here and now: nothing that it depends on can
  /// change before the master takes it.
  void answer(std::size_t i) {
    Worker& w = workers_[i];
    w.upper_value = problem_.workers[i].upper(seen_part(i, w.x), w.y);
    const Vector gradient_x = upper_gradient_x(i, w.x, w.y) + w.theta;
    const Vector gradient_y = lagrangian_gradient_y(i, w.x, w.y);
    w.x -= steps_.x * gradient_x;
    w.y -= steps_.y * gradient_y;
    under_way_.push_back({i, now_ + delays_.draw_seconds(i)});
  }

  // ---- the master

  /// Takes the answer that is due first (of equals the one whose request was sent first).
  std::size_t take_next_answer() {
    const auto first =
        std::min_element(under_way_.begin(), under_way_.end(),
                         [](const Answer& a, const Answer& b) { return a.due_seconds < b.due_seconds; });
    const Answer taken = *first;
    under_way_.erase(first);  // what is left stays in order of sending
    now_ = std::max(now_, taken.due_seconds);
    return taken.worker;
  }

  [[nodiscard]] std::size_t awaited_workers() const {
    const std::size_t n = workers_.size();
    if (options_.method == Method::kSdbo) return n;
    return options_.active_workers == 0 ? (n + 1) / 2 : static_cast<std::size_t>(options_.active_workers);
  }

  std::vector<std::size_t> collect_active_set(std::int64_t t) {
    std::vector<std::size_t> active;
    const auto is_active = [&](std::size_t i) {
      return std::find(active.begin(), active.end(), i) != active.end();
    };
    const auto somebody_is_overdue = [&] {
      for (std::size_t i = 0; i < workers_.size(); ++i)
        if (!is_active(i) && t - workers_[i].last_active >= options_.max_staleness) return true;
      return false;
    };
    while (active.size() < awaited_workers() || somebody_is_overdue()) active.push_back(take_next_answer());
    if (active.size() > awaited_workers()) ++totals_.overdue_waits;
    std::sort(active.begin(), active.end());  // they are answered in this order
    return active;
  }

  [[nodiscard]] double cut_value(const Cut& cut) const {
    double value = cut.a.dot(v_) + cut.c.dot(z_) + cut.kappa;
    for (std::size_t i = 0; i < workers_.size(); ++i) value += cut.b[i].dot(workers_[i].known_y);
    return value;
  }

  [[nodiscard]] Vector dual_sum() const {
    Vector sum = Vector::Zero(problem_.upper_dim);
    for (const Worker& w : workers_) sum.segment(w.begin, w.size) += w.theta;
    return sum;
  }

  [[nodiscard]] Vector lagrangian_gradient_v() const {
    Vector gradient = -dual_sum();
    for (const Cut& cut : cuts_) gradient += cut.multiplier * cut.a;
    return gradient;
  }

  [[nodiscard]] Vector lagrangian_gradient_z() const {
    Vector gradient = Vector::Zero(problem_.lower_dim);
    for (const Cut& cut : cuts_) gradient += cut.multiplier * cut.c;
    return gradient;
  }

  [[nodiscard]] double regularization(std::int64_t t, double step, double constant, double floor) const {
    if (options_.regularization == RegularizationSchedule::kConstant) return constant;
    return std::max(floor, 1 / (step * std::pow(static_cast<double>(t + 1), 0.25)));
  }

  /// new_27 to new_30.
  void master_step(std::int64_t t, const std::vector<std::size_t>& active) {
    v_ -= steps_.v * lagrangian_gradient_v();
    v_ = v_.cwiseMax(problem_.upper_lowest).cwiseMin(problem_.upper_highest);
    z_ -= steps_.z * lagrangian_gradient_z();

    const double c1 =
        regularization(t, steps_.lambda, options_.cut_regularization, options_.cut_regularization_floor);
    for (Cut& cut : cuts_) {
      const double risen = cut.multiplier + steps_.lambda * (cut_value(cut) - c1 * cut.multiplier);
      cut.previous_multiplier = cut.multiplier;
      cut.multiplier = std::max(0.0, risen);
      if (options_.multiplier_bound > 0)
        cut.multiplier = std::min(cut.multiplier, std::sqrt(options_.multiplier_bound));
    }

    const double c2 =
        regularization(t, steps_.theta, options_.dual_regularization, options_.dual_regularization_floor);
    for (const std::size_t i : active) {
      Worker& w = workers_[i];
      w.theta += steps_.theta * (w.known_x - v_.segment(w.begin, w.size) - c2 * w.theta);
      if (options_.dual_bound > 0 && w.theta.squaredNorm() > options_.dual_bound)
        w.theta *= std::sqrt(options_.dual_bound) / w.theta.norm();
    }
  }

  // ---- the polytope

  [[nodiscard]] bool update_is_due(std::int64_t t) const {
    if (options_.cut_until >= 0 && t >= options_.cut_until) return false;
    const std::int64_t counted = options_.cut_phase == CutPhase::kFromStart ? t : t + 1;
    // 0 is the automatic value: 50 for unrolled cuts.
    return counted % (options_.cut_interval == 0 ? 50 : options_.cut_interval) == 0;
  }

  void drop_cuts() {
    const auto goes = [&](const Cut& cut) {
      if (options_.drop_rule == DropRule::kBelowThreshold) return cut.multiplier < 1e-10;
      return cut.multiplier == 0 && cut.previous_multiplier == 0;
    };
    totals_.cuts_dropped += static_cast<std::int64_t>(std::erase_if(cuts_, goes));
  }

  /// Everybody who is computing is awaited.
  void await_all() {
    for (const Answer& a : under_way_) now_ = std::max(now_, a.due_seconds);
  }

  /// One exchange with all workers: it takes as long as the slowest.
  void exchange() {
    double slowest = 0;
    for (std::size_t i = 0; i < workers_.size(); ++i) slowest = std::max(slowest, delays_.draw_seconds(i));
    now_ += slowest;
  }

  void update_polytope(const std::vector<std::size_t>& active) {
    drop_cuts();
    const double began = now_;
    const bool restart = options_.cut_barrier == CutBarrier::kRestart;
    if (restart)
      for (const std::size_t i : active) answer(i);
    await_all();
    if (restart)
      under_way_.clear();  // discarded: the workers have moved on, the master's x_i and y_i are older

    std::vector<Vector> start, known;
    for (const Worker& w : workers_) {
      start.push_back(restart ? w.y : w.known_y);
      known.push_back(w.known_y);
    }
    const LowerSettings lower = lower_settings();
    const Rounds rounds = run_lower_rounds(problem_, lower, v_, start, z_);
    const bool exact = options_.cut_gradient == CutGradient::kExact;
    const std::int64_t exchanges = exact ? 2 * lower.rounds - 1 : lower.rounds + 2;
    for (std::int64_t k = 0; k < exchanges; ++k) exchange();
    lower_distance_ = lower_distance(rounds, known, z_);
    lower_objective_ = mean_lower_objective(start);
    if (options_.cut_rule == CutRule::kAlways || lower_distance_ > options_.lower_tolerance)
      add_cut(rounds, known,
              lower_distance_gradient(problem_, lower, options_.cut_gradient, rounds, v_, known, z_));
    else
      ++totals_.updates_without_cut;
    totals_.barrier_virtual_seconds += now_ - began;
  }

  [[nodiscard]] double mean_lower_objective(const std::vector<Vector>& y) const {
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      const Objective& objective = problem_.workers[i];
      sum += objective.lower(support_of(objective, v_), y[i]);
    }
    return sum / static_cast<double>(y.size());
  }

  [[nodiscard]] LowerSettings lower_settings() const {
    LowerSettings s;
    s.rounds = options_.lower_rounds;
    s.step_local = steps_.y;
    s.step_consensus = steps_.z;
    s.step_dual = steps_.phi;
    s.penalty = options_.lower_penalty;
    s.order = options_.lower_round_order;
    return s;
  }

  /// The linearization of h at the present point (cuts).
  void add_cut(const Rounds& rounds, const std::vector<Vector>& y, const Vector& gradient_in_v) {
    if (cuts_.size() == static_cast<std::size_t>(options_.max_cuts)) {
      cuts_.erase(std::min_element(cuts_.begin(), cuts_.end(),
                                   [](const Cut& a, const Cut& b) { return a.multiplier < b.multiplier; }));
      ++totals_.cuts_evicted;
      ++totals_.cuts_dropped;
    }
    Cut cut;
    cut.a = gradient_in_v;
    for (std::size_t i = 0; i < y.size(); ++i) cut.b.push_back(2 * (y[i] - rounds.back().local[i]));
    cut.c = 2 * (z_ - rounds.back().consensus);
    cut.kappa = lower_distance_ - options_.lower_tolerance - cut.a.dot(v_) - cut.c.dot(z_);
    for (std::size_t i = 0; i < y.size(); ++i) cut.kappa -= cut.b[i].dot(y[i]);
    cuts_.push_back(cut);
    ++totals_.cuts_added;
  }

  // ---- what is recorded

  /// ||grad L_p||^2, all six blocks, at the master's values (Definition 1).
  [[nodiscard]] double stationarity_gap() const {
    double gap = lagrangian_gradient_v().squaredNorm() + lagrangian_gradient_z().squaredNorm();
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      const Worker& w = workers_[i];
      gap += lagrangian_gradient_y(i, w.known_x, w.known_y).squaredNorm();
      gap += (upper_gradient_x(i, w.known_x, w.known_y) + w.theta).squaredNorm();
      gap += (w.known_x - v_.segment(w.begin, w.size)).squaredNorm();
    }
    for (const Cut& cut : cuts_) gap += cut_value(cut) * cut_value(cut);
    return gap;
  }

  [[nodiscard]] Iteration record(std::int64_t t, const std::vector<std::size_t>& active) const {
    Iteration it;
    it.upper = v_;
    it.lower = z_;
    for (const Cut& cut : cuts_) it.multipliers.push_back(cut.multiplier);
    it.dual_sum = dual_sum();
    it.active = active;
    for (const Worker& w : workers_) {
      it.longest_silence = std::max(it.longest_silence, t - w.last_active);
      it.upper_objective += w.known_upper_value / static_cast<double>(workers_.size());
    }
    it.virtual_seconds = now_;
    it.lower_objective = lower_objective_;
    it.lower_distance = lower_distance_;
    it.stationarity_gap = stationarity_gap();
    return it;
  }

  const Problem& problem_;
  const Options options_;
  const Steps steps_;
  Delays delays_;
  Vector v_, z_;
  std::vector<Worker> workers_;
  bool eliminated_ = false;
  std::vector<Cut> cuts_;
  std::vector<Answer> under_way_;
  double now_ = 0;
  double lower_distance_ = kNotYet;
  double lower_objective_ = kNotYet;
  Totals totals_;
};

}  // namespace

Steps step_sizes(const Options& o, std::size_t num_workers) {
  Steps s{o.step_upper_local,    o.step_lower_local,    o.step_upper_consensus, o.step_lower_consensus,
          o.step_cut_multiplier, o.step_consensus_dual, o.step_lower_dual};
  if (o.steps != StepRule::kTheorem2) return s;
  const double L = o.smoothness;
  const double N = static_cast<double>(num_workers);
  const double M = static_cast<double>(o.max_cuts);
  const double tau = static_cast<double>(o.max_staleness);
  const double c1 = o.cut_regularization_floor;
  const double c2 = o.dual_regularization_floor;
  const double from_first_step = 2 * (1 - std::pow(2.0, -0.25)) / L;
  s.lambda = 0.9 * std::min(from_first_step, 1 / (30 * tau * o.drift_constant * N * L * L));
  s.theta = 0.9 * from_first_step;
  const double bounds =
      M * o.theorem_gamma * L * L / (s.lambda * c1 * c1) + N * o.theorem_gamma * L * L / (s.theta * c2 * c2);
  s.x = s.y = s.v = s.z = 2 / (L + s.lambda * M * L * L + s.theta * N * L * L + 8 * bounds);
  return s;
}

Run run(const Problem& problem, const Options& options, std::int64_t iterations) {
  return Adbo(problem, options).run(iterations);
}

}  // namespace adbo::reference
