#include "adbo/early_stopping.h"
#include "adbo/checkpoint.h"
#include "adbo/kernels/softmax.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "adbo/problems/quadratic.h"
#include "adbo/solver.h"

namespace {

using adbo::EarlyStopping;
using adbo::EarlyStoppingOptions;
using adbo::HeldOutLoss;
using adbo::ObserverAction;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Shows an observer the states of a made-up run: at iteration t, v = (t) and z = (loss of t).
class MadeUpRun {
 public:
  explicit MadeUpRun(std::vector<double> losses) : losses_(std::move(losses)) {}

  /// The last iteration shown: the one whose action was not kContinue, or the last there is.
  std::int64_t show(adbo::Observer& observer) const {
    for (std::size_t t = 0; t < losses_.size(); ++t) {
      if (show_one(observer, t) != ObserverAction::kContinue) return static_cast<std::int64_t>(t);
    }
    return static_cast<std::int64_t>(losses_.size()) - 1;
  }

  [[nodiscard]] ObserverAction show_one(adbo::Observer& observer, std::size_t t) const {
    adbo::TraceRecord record;
    record.iteration = static_cast<std::int64_t>(t);
    const std::vector<double> upper{static_cast<double>(t)}, lower{losses_[t]};
    return observer.on_iteration({.record = record, .upper = upper, .lower = lower});
  }

  [[nodiscard]] adbo::Result result_at(std::int64_t t) const {
    adbo::Result result;
    result.summary.iterations = t;
    result.upper = {static_cast<double>(t)};
    result.lower = {losses_[static_cast<std::size_t>(t)]};
    return result;
  }

 private:
  std::vector<double> losses_;
};

class LastImage final : public adbo::CheckpointSink {
 public:
  bool is_due(std::int64_t /*iteration*/) override { return false; }
  void store(std::int64_t /*iteration*/, std::span<const std::byte> bytes) override {
    image.assign(bytes.begin(), bytes.end());
  }
  std::vector<std::byte> image;
};

/// The loss is the state's own z.
HeldOutLoss loss_of_state() {
  return [](std::span<const double>, std::span<const double> lower) {
    return adbo::HeldOutValue{.loss = lower[0]};
  };
}

TEST_CASE("early stopping: keeps the best state, stops after `patience` iterations without a better one") {
  const MadeUpRun run({9, 7, 5, 6, 4, 8, 8, 8, 3});
  EarlyStopping observer(loss_of_state(), {.interval = 1, .patience = 3});
  const std::int64_t last = run.show(observer);
  CHECK(last == 7);  // best at 4; 5, 6, 7 were not better; 8 is never seen
  CHECK(observer.gave_up());
  CHECK(observer.chosen_iteration() == 4);
  CHECK(observer.chosen_loss() == 4);
  CHECK(observer.first_loss() == 9);

  adbo::Result result = run.result_at(last);
  result.summary.termination = adbo::Termination::kStopped;
  observer.deliver(result);
  CHECK(result.upper == std::vector<double>{4});
  CHECK(result.lower == std::vector<double>{4});
  CHECK(result.summary.upper_change_max == 4);  // from v = 0
  CHECK(result.summary.iterations == 7);
  CHECK(result.summary.termination == adbo::Termination::kStopped);
  CHECK(result.summary.message == "the held-out loss has not fallen for 3 iterations (patience)");
}

TEST_CASE(
    "early stopping: a later state is chosen only when its loss is smaller by more than the standard error") {
  // 9 -> 8 is within the error of 9; 7 is not; 6.5 and 6 are within that of 7; patience follows the smallest.
  const MadeUpRun run({9, 8, 7, 6.5, 6, 6.2, 6.3, 6.4, 0});
  const HeldOutLoss loss = [](std::span<const double>, std::span<const double> lower) {
    return adbo::HeldOutValue{.loss = lower[0], .standard_error = 1.5};
  };
  EarlyStopping observer(loss, {.interval = 1, .patience = 3});
  CHECK(run.show(observer) == 7);
  CHECK(observer.chosen_iteration() == 2);
  CHECK(observer.chosen_loss() == 7);
  CHECK(observer.smallest_loss() == 6);
}

TEST_CASE("early stopping: patience shorter than the interval waits for the next evaluation") {
  const MadeUpRun run({9, 9, 9, 7, 7, 7, 8, 8, 8});
  EarlyStopping observer(loss_of_state(), {.interval = 3, .patience = 1});
  CHECK(run.show(observer) == 6);  // 7 at iteration 3 was a gain, 8 at 6 is none
  CHECK(observer.chosen_iteration() == 3);
}

TEST_CASE("early stopping: patience 0 never stops") {
  const MadeUpRun run({1, 2, 3, 4, 5, 6, 7, 8, 9});
  EarlyStopping observer(loss_of_state(), {.interval = 1, .patience = 0});
  CHECK(run.show(observer) == 8);
  CHECK_FALSE(observer.gave_up());
  CHECK(observer.chosen_iteration() == 0);
}

TEST_CASE("early stopping: of equal losses the earliest is the best, and standing still is no progress") {
  const MadeUpRun run({5, 4, 4, 4, 4, 4});
  EarlyStopping observer(loss_of_state(), {.interval = 1, .patience = 2});
  CHECK(run.show(observer) == 3);
  CHECK(observer.chosen_iteration() == 1);
}

TEST_CASE("early stopping: a loss that is not a number is never the best and counts as no progress") {
  const MadeUpRun some({5, kNaN, 4, kNaN, kNaN, kNaN});
  EarlyStopping observer(loss_of_state(), {.interval = 1, .patience = 3});
  CHECK(some.show(observer) == 5);
  CHECK(observer.chosen_iteration() == 2);
  CHECK(observer.gave_up());

  const MadeUpRun all({kNaN, kNaN, kNaN, kNaN});
  EarlyStopping nothing(loss_of_state(), {.interval = 1, .patience = 2});
  CHECK(all.show(nothing) == 2);
  CHECK_FALSE(nothing.has_chosen());
  adbo::Result result = all.result_at(2);
  result.summary.upper_change_max = 0.5;
  nothing.deliver(result);
  CHECK(result.upper == std::vector<double>{2});  // the last state stays
  CHECK(result.summary.upper_change_max == 0.5);

  const MadeUpRun infinite({std::numeric_limits<double>::infinity(), 1, 2});
  EarlyStopping finite(loss_of_state(), {.interval = 1, .patience = 0});
  infinite.show(finite);
  CHECK(finite.chosen_iteration() == 1);
}

TEST_CASE("early stopping: evaluates every `interval` iterations, and the last state on delivery") {
  const MadeUpRun run({9, 0, 8, 0, 7, 0, 6, 5});
  EarlyStopping observer(loss_of_state(), {.interval = 2, .patience = 0});
  for (std::size_t t = 0; t < 8; ++t) {
    (void)run.show_one(observer, t);
    CHECK(std::isnan(observer.last_loss()) == (t % 2 != 0));
  }
  CHECK(observer.chosen_iteration() == 6);  // the zeros were not seen
  adbo::Result result = run.result_at(7);
  observer.deliver(result);
  CHECK(observer.chosen_iteration() == 7);
  CHECK(result.upper == std::vector<double>{7});
  CHECK(result.summary.message.empty());
}

TEST_CASE("early stopping: the wrapped observer sees every iteration, and its wish to end is obeyed") {
  class Inner final : public adbo::Observer {
   public:
    ObserverAction on_iteration(const adbo::IterationView& view) override {
      seen.push_back(view.record.iteration);
      return view.record.iteration == 3 ? ObserverAction::kAbort : ObserverAction::kContinue;
    }
    std::vector<std::int64_t> seen;
  } inner;
  const MadeUpRun run({1, 2, 3, 4, 5});
  EarlyStopping observer(loss_of_state(), {.interval = 2, .patience = 3}, &inner);
  CHECK(run.show(observer) == 3);
  CHECK(inner.seen == std::vector<std::int64_t>{0, 1, 2, 3});
  CHECK_FALSE(observer.gave_up());  // the inner observer ended the run, not the patience
}

TEST_CASE("early stopping refuses what makes no sense") {
  CHECK_THROWS_WITH_AS(EarlyStopping({}, {}), "early stopping: no loss", std::invalid_argument);
  CHECK_THROWS_WITH_AS(EarlyStopping(loss_of_state(), {.interval = 0}),
                       "early stopping: interval = 0, expected at least 1", std::invalid_argument);
  CHECK_THROWS_WITH_AS(EarlyStopping(loss_of_state(), {.interval = 1, .patience = -1}),
                       "early stopping: patience = -1, expected at least 0", std::invalid_argument);
}

TEST_CASE("early stopping: ends a real run in order, the same for any number of threads") {
  const auto run = [](std::int64_t threads) {
    adbo::QuadraticInstance instance = adbo::make_quadratic({.num_workers = 4, .condition = 3, .seed = 7});
    adbo::Options options;
    options.method = adbo::Method::kAdbo;
    options.iterations = 400;
    options.threads = threads;
    options.clock = adbo::ClockKind::kVirtual;
    options.delay = "lognormal:1,1";
    options.step_lower_consensus = 0.1;
    // A target that the run passes: the distance of z from a point near its start.
    EarlyStopping observer(
        [](std::span<const double>, std::span<const double> z) {
          return adbo::HeldOutValue{.loss = std::abs(z[0] - 1e-3)};
        },
        {.interval = 1, .patience = 20});
    adbo::Solver solver(options);
    adbo::Result result = solver.solve(instance.problem, &observer);
    REQUIRE(result.status.ok());
    REQUIRE(observer.gave_up());
    observer.deliver(result);
    CHECK(result.summary.termination == adbo::Termination::kStopped);
    CHECK(result.summary.iterations == observer.chosen_iteration() + 20);
    return result;
  };
  const adbo::Result one = run(1), three = run(3);
  CHECK(one.upper == three.upper);
  CHECK(one.lower == three.lower);
  CHECK(one.summary.iterations == three.summary.iterations);
}

TEST_CASE("early stopping: a run that it ended stays ended when it is gone on with") {
  for (const adbo::Method method : {adbo::Method::kAuto, adbo::Method::kAdbo, adbo::Method::kFedNest}) {
    adbo::QuadraticInstance instance = adbo::make_quadratic({.num_workers = 4, .condition = 3, .seed = 7});
    adbo::Options options;
    options.method = method;
    options.iterations = 400;
    options.clock = adbo::ClockKind::kVirtual;
    options.delay = "lognormal:1,1";
    const auto ended_early = [] {
      return EarlyStopping(
          [](std::span<const double>, std::span<const double>) { return adbo::HeldOutValue{.loss = 1}; },
          {.interval = 5, .patience = 20});
    };
    LastImage kept;
    EarlyStopping first = ended_early();
    adbo::Result straight = adbo::Solver(options).solve(instance.problem, &first, &kept);
    REQUIRE(straight.status.ok());
    REQUIRE(first.gave_up());
    first.deliver(straight);
    CHECK(straight.summary.iterations == 20);

    EarlyStopping second = ended_early();
    adbo::Result resumed = adbo::Solver(options).resume(instance.problem, kept.image, &second);
    REQUIRE(resumed.status.ok());
    second.deliver(resumed);
    CHECK(resumed.upper == straight.upper);
    CHECK(resumed.lower == straight.lower);
    CHECK(resumed.summary.iterations == straight.summary.iterations);
    CHECK(resumed.summary.termination == straight.summary.termination);
    CHECK(resumed.summary.message == straight.summary.message);
    CHECK(resumed.summary.virtual_seconds == straight.summary.virtual_seconds);
    CHECK(resumed.summary.counts.messages == straight.summary.counts.messages);
  }
}

TEST_CASE("softmax held-out loss: the mean loss of score_model") {
  const auto dense = std::make_shared<const adbo::kernels::Rows>([] {
    adbo::kernels::DenseRows rows(3, 2);
    const float values[3][2] = {{1, 2}, {-1, 0.5F}, {0.25F, -3}};
    for (std::size_t r = 0; r < 3; ++r) {
      for (std::size_t k = 0; k < 2; ++k) rows.mutable_row(r)[k] = values[r][k];
    }
    return rows;
  }());
  const adbo::LabelledRows rows{.features = dense, .labels = {0, 2, 1}};
  const std::vector<double> model{0.5, -1, 0.25, 2, -0.75, 1};
  const HeldOutLoss loss = adbo::softmax_held_out_loss(rows, 3);
  CHECK(loss({}, model).loss == doctest::Approx(adbo::score_model(model, rows, 3).loss).epsilon(1e-13));
  // The standard error of a mean of three: s / sqrt(3).
  adbo::kernels::SoftmaxLoss reference(rows.features, rows.labels, 3);
  std::vector<double> each(3);
  reference.row_losses(model, each);
  const double mean = (each[0] + each[1] + each[2]) / 3;
  double square = 0;
  for (const double value : each) square += (value - mean) * (value - mean);
  CHECK(loss({}, model).standard_error == doctest::Approx(std::sqrt(square / 2 / 3)).epsilon(1e-12));
  CHECK_THROWS_AS((void)adbo::softmax_held_out_loss(rows, 2), std::invalid_argument);
  CHECK_THROWS_AS((void)adbo::softmax_held_out_loss({}, 3), std::invalid_argument);
}

}  // namespace
