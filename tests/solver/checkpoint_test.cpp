// A run that is gone on with from a checkpoint is the run that was never interrupted, bit for bit; and what
// does not fit is refused by name.

#include "adbo/checkpoint.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "adbo/adbo.h"
#include "support/pull_to_two.h"

using namespace adbo;

namespace {

using Image = std::vector<std::byte>;

/// Keeps the checkpoints of the iterations that are multiples of `interval`, and the one at the end.
class KeepAll final : public CheckpointSink {
 public:
  explicit KeepAll(std::int64_t interval = 1) : interval_(interval) {}
  bool is_due(std::int64_t iteration) override { return iteration % interval_ == 0; }
  void store(std::int64_t iteration, std::span<const std::byte> image) override {
    images[iteration].assign(image.begin(), image.end());
    last = images[iteration];
  }
  std::map<std::int64_t, Image> images;
  Image last;

 private:
  std::int64_t interval_;
};

/// What depends on the run alone and not on the machine's clocks, as bytes.
Image bits_of(TraceRecord record) {
  Image bits;
  StateArchive archive = StateArchive::saving_to(bits);
  archive(record.iteration, record.virtual_seconds, record.upper_objective, record.lower_objective,
          record.lower_distance, record.stationarity_gap, record.cuts, record.active, record.max_staleness);
  return bits;
}

Image bits_of(Result result) {
  Image bits;
  StateArchive archive = StateArchive::saving_to(bits);
  Summary& s = result.summary;
  archive(result.upper, result.lower, s.termination, s.message, s.iterations, s.virtual_seconds,
          s.barrier_virtual_seconds, s.upper_change_max, s.stationarity_gap, s.stationarity_iteration,
          s.adjoint_residual, s.consensus_error, s.counts, s.staleness_histogram);
  return bits;
}

/// Traces the run; its trace is part of the checkpoints.
class Tracer final : public Observer {
 public:
  explicit Tracer(std::int64_t stop_at = -1) : stop_at_(stop_at) {}
  ObserverAction on_iteration(const IterationView& view) override {
    records.push_back(bits_of(view.record));
    return view.record.iteration == stop_at_ ? ObserverAction::kStop : ObserverAction::kContinue;
  }
  void persist(StateArchive& archive) override { archive.sized(records); }
  std::vector<Image> records;

 private:
  std::int64_t stop_at_;
};

struct Case {
  std::string name;
  Options options;
  std::function<Problem()> make_problem;
};

Options base_options(Method method) {
  Options options;
  options.method = method;
  options.clock = ClockKind::kVirtual;
  options.delay = "lognormal:3.5,1";
  options.stragglers = "1:4";
  options.executor = ExecutorKind::kInline;
  options.threads = 1;
  options.iterations = 24;
  options.max_staleness = 5;
  options.cut_interval = 0;
  options.step_upper = 0.01;
  options.lower_steps = 3;
  options.adjoint_steps = 3;
  options.stationarity_interval = 7;
  return options;
}

Problem quadratic() {
  return std::move(
      make_quadratic({.upper_dim = 6, .lower_dim = 8, .num_workers = 5, .support_size = 4, .samples = 20})
          .problem);
}

/// Rows that two classes could have drawn, some of them with the wrong label.
LabelledRows make_rows(RandomStream& random, std::size_t count, double wrong) {
  constexpr std::size_t kFeatures = 5;
  kernels::DenseRows features(count, kFeatures);
  std::vector<std::int32_t> labels;
  for (std::size_t k = 0; k < count; ++k) {
    const int label = static_cast<int>(random.below(3));
    for (std::size_t j = 0; j < kFeatures; ++j) {
      features.mutable_row(k)[j] =
          static_cast<float>(random.normal() + (j == static_cast<std::size_t>(label) ? 2 : 0));
    }
    labels.push_back(random.uniform() < wrong ? (label + 1) % 3 : label);
  }
  return {std::make_shared<kernels::Rows>(std::move(features)), std::move(labels)};
}

Problem cleaning() {
  RandomStream random(3, 1);
  std::vector<CleaningShard> shards;
  for (int i = 0; i < 4; ++i) shards.push_back({make_rows(random, 15, 0.3), make_rows(random, 6, 0)});
  return make_hyper_cleaning(shards, {.classes = 3});
}

Problem tuning() {
  RandomStream random(4, 1);
  std::vector<TuningShard> shards;
  for (int i = 0; i < 4; ++i) {
    LabelledRows train = make_rows(random, 15, 0.2), validation = make_rows(random, 6, 0);
    for (LabelledRows* rows : {&train, &validation}) {
      for (std::int32_t& label : rows->labels) label = std::min(label, 1);
    }
    shards.push_back({std::move(train), std::move(validation)});
  }
  return make_regularization_tuning(shards, {});
}

std::vector<Case> cases() {
  std::vector<Case> all;
  const auto add = [&](std::string name, const Options& options) {
    all.push_back({name + ", quadratic", options, quadratic});
    all.push_back({name + ", cleaning", options, cleaning});
    all.push_back({name + ", tuning", options, tuning});
  };
  for (const MethodInfo& info : method_table()) {
    if (info.method == Method::kAuto) continue;
    Options options = base_options(info.method);
    const OptionInfo* batch = find_option("batch_rows");
    REQUIRE(batch != nullptr);
    add(std::string(info.name), options);
    if (!acts_on(*batch, info.method)) continue;
    options.batch_rows = 5;
    add(std::string(info.name) + " with batches", options);
  }
  Options unrolled = base_options(Method::kAdbo);
  unrolled.cut_interval = 4;
  unrolled.lower_rounds = 3;
  unrolled.cut_rule = CutRule::kAlways;
  unrolled.lower_tolerance = 0;
  add("unrolled cuts, held answers", unrolled);
  unrolled.cut_barrier = CutBarrier::kRestart;
  unrolled.drop_rule = DropRule::kBelowThreshold;
  add("unrolled cuts, restarts", unrolled);
  unrolled.consensus = Consensus::kFull;
  add("unrolled cuts, every worker with all of v", unrolled);
  Options implicit = base_options(Method::kAdbo);
  implicit.cuts = CutConstruction::kImplicit;
  add("implicit cuts", implicit);
  implicit.lower_copies = LowerCopies::kLocal;
  add("implicit cuts with copies", implicit);
  Options light = base_options(Method::kFedNest);
  light.fednest_variant = FedNestVariant::kLight;
  add("light fednest", light);
  Options gossip = base_options(Method::kDsbo);
  gossip.dsbo_variant = DsboVariant::kGossip;
  add("dsbo as published", gossip);
  Options exact = base_options(Method::kCpbo);
  exact.multipliers = MultiplierRule::kExact;
  exact.cut_interval = 2;
  exact.cut_rule = CutRule::kAlways;
  add("cpbo with exact multipliers", exact);
  Options target = base_options(Method::kAsyncHypergradient);
  target.stationarity_target = 1e9;
  add("to a stationarity target", target);
  return all;
}

void check_resumed(const Case& one, const Image& image, const Result& straight, const Tracer& trace) {
  Problem problem = one.make_problem();
  Tracer tracer;
  const Result resumed = Solver(one.options).resume(problem, image, &tracer);
  REQUIRE_MESSAGE(resumed.status.ok(), resumed.status.message());
  CHECK(bits_of(resumed) == bits_of(straight));
  CHECK(tracer.records == trace.records);
}

}  // namespace

TEST_CASE("from every checkpoint of every method: the same bits as without an interruption") {
  for (const Case& one : cases()) {
    CAPTURE(one.name);
    Problem problem = one.make_problem();
    Tracer alone, trace;
    const Result straight = Solver(one.options).solve(problem, &alone);
    REQUIRE_MESSAGE(straight.status.ok(), straight.status.message());
    KeepAll kept;
    Problem again = one.make_problem();
    const Result watched = Solver(one.options).solve(again, &trace, &kept);
    CHECK(bits_of(watched) == bits_of(straight));
    CHECK(trace.records == alone.records);
    for (const auto& entry : kept.images) {
      const std::int64_t iteration = entry.first;
      CAPTURE(iteration);
      if (iteration % 5 != 0 && iteration != 1 && iteration < straight.summary.iterations) continue;
      check_resumed(one, entry.second, straight, alone);
    }
  }
}

TEST_CASE("1 + 1 + 1 ... iterations are the straight run") {
  for (const Case& one : cases()) {
    CAPTURE(one.name);
    Problem problem = one.make_problem();
    Tracer alone;
    const Result straight = Solver(one.options).solve(problem, &alone);
    Case part = one;
    Image image;
    Result last;
    Tracer tracer;
    for (std::int64_t t = 1; t <= one.options.iterations; ++t) {
      part.options.iterations = t;
      Problem fresh = one.make_problem();
      KeepAll kept;
      Tracer traced;
      last = image.empty() ? Solver(part.options).solve(fresh, &traced, &kept)
                           : Solver(part.options).resume(fresh, image, &traced, &kept);
      REQUIRE_MESSAGE(last.status.ok(), last.status.message());
      if (last.summary.termination != Termination::kIterationLimit) break;
      image = kept.last.empty() ? image : kept.last;
      tracer.records = traced.records;
    }
    CHECK(bits_of(last) == bits_of(straight));
    if (last.summary.termination == Termination::kIterationLimit) CHECK(tracer.records == alone.records);
  }
}

TEST_CASE("threads and executors may differ between a checkpoint and the run that goes on") {
  Case one{"auto", base_options(Method::kAuto), cleaning};
  Problem problem = one.make_problem();
  Tracer trace;
  const Result straight = Solver(one.options).solve(problem, &trace);
  for (const ExecutorKind executor : {ExecutorKind::kThreads, ExecutorKind::kTbb, ExecutorKind::kInline}) {
    one.options.executor = executor;
    one.options.threads = 3;
    KeepAll kept(6);
    Problem again = one.make_problem();
    Tracer ignored;
    (void)Solver(one.options).solve(again, &ignored, &kept);
    for (const ExecutorKind other : {ExecutorKind::kThreads, ExecutorKind::kTbb}) {
      one.options.executor = other;
      one.options.threads = 2;
      check_resumed(one, kept.images.at(12), straight, trace);
    }
  }
}

TEST_CASE("a run that is stopped leaves a checkpoint, and the run goes on from it") {
  for (const Method method : {Method::kAuto, Method::kSdbo, Method::kFedNest}) {
    Case one{"stopped", base_options(method), tuning};
    Problem problem = one.make_problem();
    Tracer alone;
    const Result straight = Solver(one.options).solve(problem, &alone);
    KeepAll kept(1000);
    Problem again = one.make_problem();
    Tracer stopping(9);
    const Result stopped = Solver(one.options).solve(again, &stopping, &kept);
    REQUIRE(stopped.summary.termination == Termination::kStopped);
    REQUIRE(kept.images.count(9) == 1);
    check_resumed(one, kept.images.at(9), straight, alone);
  }
}

namespace {

/// Traces the run until the iteration `at`, whose observation it gives up.
class GivingUp final : public Observer {
 public:
  GivingUp(Solver& solver, std::int64_t at) : solver_(solver), at_(at) {}
  ObserverAction on_iteration(const IterationView& view) override {
    if (view.record.iteration != at_) return tracer.on_iteration(view);
    CHECK_FALSE(view.is_interrupted());
    solver_.request_stop();
    CHECK(view.is_interrupted());
    return ObserverAction::kInterrupted;
  }
  void persist(StateArchive& archive) override { tracer.persist(archive); }
  Tracer tracer;

 private:
  Solver& solver_;
  std::int64_t at_;
};

/// Stops every method's run (stop(case, at, kept)) on the quadratic problem, for what is stopped is the loop
/// and what is saved was compared on the others: at its beginning, at its end (by a limit or by the method
/// itself) and between, and goes on from what it leaves.
template <class Stop>
void check_stops(const Stop& stop) {
  for (const Case& one : cases()) {
    if (!one.name.ends_with(", quadratic")) continue;
    CAPTURE(one.name);
    Problem problem = one.make_problem();
    Tracer alone;
    const Result straight = Solver(one.options).solve(problem, &alone);
    for (const std::int64_t at :
         {std::int64_t{0}, std::int64_t{1}, std::int64_t{9}, straight.summary.iterations}) {
      if (at > straight.summary.iterations) continue;
      CAPTURE(at);
      KeepAll kept(1000);
      stop(one, at, kept);
      REQUIRE(kept.images.count(at) == 1);
      check_resumed(one, kept.images.at(at), straight, alone);
    }
  }
}

}  // namespace

TEST_CASE("an observation that is given up is made by the run that goes on") {
  check_stops([](const Case& one, std::int64_t at, KeepAll& kept) {
    Problem problem = one.make_problem();
    Solver solver(one.options);
    GivingUp giving_up(solver, at);
    const Result stopped = solver.solve(problem, &giving_up, &kept);
    CHECK(stopped.summary.termination == Termination::kStopped);
    CHECK(stopped.summary.iterations == at);
    CHECK(giving_up.tracer.records.size() == static_cast<std::size_t>(at));
  });
}

TEST_CASE("a run that its observer stops goes on, or ends as it would have ended there") {
  check_stops([](const Case& one, std::int64_t at, KeepAll& kept) {
    Problem problem = one.make_problem();
    Tracer stopping(at);
    (void)Solver(one.options).solve(problem, &stopping, &kept);
  });
}

namespace {

/// Asks for the end of the run in the middle of an iteration: from a worker's task.
class StoppingObjective final : public test::PullToTwo {
 public:
  StoppingObjective(Solver** solver, int at) : solver_(solver), at_(at) {}

 private:
  double before_upper() override {
    if (++calls_ == at_ && *solver_ != nullptr) (*solver_)->request_stop();
    return 0;
  }
  Solver** solver_;
  int at_, calls_ = 0;
};

}  // namespace

TEST_CASE("a run that is stopped within an iteration goes on within it") {
  for (const Method method :
       {Method::kAuto, Method::kSdbo, Method::kAidCg, Method::kDsbo, Method::kFedNest}) {
    for (const int at : {1, 4, 7, 11}) {
      CAPTURE(at);
      Solver* stopped_by = nullptr;
      const Case one{
          "stopped within", base_options(method), [&stopped_by, at] {
            Problem problem(3, 3);
            for (int i = 0; i < 4; ++i) {
              problem.add_worker(std::make_unique<StoppingObjective>(&stopped_by, i == 2 ? at : -1));
            }
            return problem;
          }};
      Problem problem = one.make_problem();
      Tracer alone;
      const Result straight = Solver(one.options).solve(problem, &alone);
      REQUIRE(straight.status.ok());
      KeepAll kept(1000);
      Problem again = one.make_problem();
      Solver solver(one.options);
      stopped_by = &solver;
      Tracer tracer;
      const Result stopped = solver.solve(again, &tracer, &kept);
      stopped_by = nullptr;
      REQUIRE(stopped.summary.termination == Termination::kStopped);
      REQUIRE_FALSE(kept.last.empty());
      check_resumed(one, kept.last, straight, alone);
    }
  }
}

namespace {

/// What the workers of a run know together.
struct Stop {
  Solver* solver;
  std::atomic<bool> is_asked = false;
  std::atomic<int> evaluations_after = 0;
};

/// Asks for the end of the run at its evaluation `at` (-1: never); evaluations that follow are counted.
class StoppedObjective final : public test::PullToTwo {
 public:
  StoppedObjective(Stop* stop, int at) : stop_(stop), at_(at) {}
  double lower(std::span<const double> x, std::span<const double> y, std::span<double> grad_y) override {
    count();
    return PullToTwo::lower(x, y, grad_y);
  }

 private:
  double before_upper() override {
    count();
    return 0;
  }
  void count() {
    if (stop_->is_asked.load()) stop_->evaluations_after.fetch_add(1);
    if (++calls_ != at_) return;
    stop_->solver->request_stop();
    stop_->is_asked.store(true);
  }
  Stop* stop_;
  int at_, calls_ = 0;
};

}  // namespace

TEST_CASE("an answer of many evaluations is given up when the run is over") {
  for (const FedNestVariant variant : {FedNestVariant::kFull, FedNestVariant::kLight}) {
    for (const ExecutorKind executor : {ExecutorKind::kInline, ExecutorKind::kThreads, ExecutorKind::kTbb}) {
      for (const bool is_lower : {true, false}) {
        Options options = base_options(Method::kFedNest);
        options.fednest_variant = variant;
        options.executor = executor;
        options.threads = 2;
        (is_lower ? options.lower_steps : options.upper_steps) = 100'000;
        options.step_lower = 1e-6;
        options.step_upper = 1e-6;
        Solver solver(options);
        Stop stop{&solver};
        Problem problem(3, 3);
        for (const int at : {1000, -1, -1}) {
          problem.add_worker(std::make_unique<StoppedObjective>(&stop, at));
        }
        KeepAll kept(1000);
        const Result result = solver.solve(problem, nullptr, &kept);
        CHECK(result.summary.termination == Termination::kStopped);
        CHECK_FALSE(kept.last.empty());
        CHECK(stop.evaluations_after.load() < 1000);  // of a hundred thousand and more
      }
    }
  }
}

TEST_CASE("under the real clock a resumed run goes on where it was") {
  Options options = base_options(Method::kAuto);
  options.clock = ClockKind::kReal;
  options.delay = "lognormal:0,1";
  options.executor = ExecutorKind::kThreads;
  options.threads = 2;
  options.iterations = 40;
  Problem problem = cleaning();
  KeepAll kept(10);
  const Result first = Solver(options).solve(problem, nullptr, &kept);
  REQUIRE(first.summary.termination == Termination::kIterationLimit);
  for (const auto& entry : kept.images) {
    const std::int64_t iteration = entry.first;
    CAPTURE(iteration);
    Problem again = cleaning();
    Tracer tracer;
    CHECK(open_checkpoint(entry.second).facts.iteration == iteration);
    const Result resumed = Solver(options).resume(again, entry.second);
    REQUIRE_MESSAGE(resumed.status.ok(), resumed.status.message());
    CHECK(resumed.summary.termination == Termination::kIterationLimit);
    CHECK(resumed.summary.iterations == 40);
    CHECK(resumed.summary.wall_seconds > 0);
  }
}

TEST_CASE("what does not fit is refused by name, with both values") {
  Options options = base_options(Method::kAuto);
  Problem problem = cleaning();
  KeepAll kept(8);
  (void)Solver(options).solve(problem, nullptr, &kept);
  const Image& image = kept.images.at(8);
  const auto refusal = [&](const Options& other, Problem target, const Image& from) {
    const Result result = Solver(other).resume(target, from);
    CHECK(result.status.code() == StatusCode::kInvalidCheckpoint);
    return result.status.message();
  };
  Options other = options;
  other.seed = 2;
  CHECK(refusal(other, cleaning(), image) == "option seed: 1 when the checkpoint was made, 2 now");
  other = options;
  other.method = Method::kAidCg;
  CHECK(refusal(other, cleaning(), image).find("option method: async-hypergradient when") == 0);
  Problem described = cleaning();
  described.add_identity("train file", "fnv1a64:1");
  CHECK(refusal(options, std::move(described), image) ==
        "train file: absent when the checkpoint was made, fnv1a64:1 now");
  CHECK(refusal(options, tuning(), image).find("size of the upper variable: 60 when") == 0);

  Image cut(image.begin(), image.end() - 1);
  CHECK(refusal(options, cleaning(), cut).find("damaged or cut short") == 0);
  for (const std::size_t at : {std::size_t{9}, std::size_t{17}, image.size() / 2, image.size() - 1}) {
    Image flipped = image;
    flipped[at] ^= std::byte{4};
    CHECK(refusal(options, cleaning(), flipped).find("damaged or cut short") == 0);
  }
  CHECK(refusal(options, cleaning(), {}).find("no whole checkpoint: 0 bytes") == 0);
  Image foreign(image);
  foreign[0] = std::byte{'X'};
  CHECK(refusal(options, cleaning(), foreign).find("no checkpoint: it does not begin with") == 0);
}

TEST_CASE("a state with a number that no run counts to is refused: there has to be room to count on") {
  for (const std::int64_t number :
       {std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}) {
    Image bits;
    StateArchive saving = StateArchive::saving_to(bits);
    std::int64_t written = number;
    std::vector<std::int64_t> list{0, number};
    saving(written);
    saving.sized(list);
    StateArchive loading = StateArchive::loading_from(bits);
    CHECK_THROWS_AS(loading(written), BadState);
    CHECK_THROWS_AS(loading.sized(list), BadState);
  }
}
