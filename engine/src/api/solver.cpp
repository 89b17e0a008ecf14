#include "adbo/solver.h"

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "adbo/option_table.h"
#include "adbo/version.h"
#include "api/method_factory.h"
#include "api/resolve_options.h"
#include "protocol/master_loop.h"
#include "protocol/run_limits.h"
#include "runtime/clock.h"
#include "runtime/executor.h"
#include "runtime/in_process_transport.h"

namespace adbo {
namespace {

using detail::InProcessTransport;

void describe_settings(Summary& summary, const Options& given, const Options& used, std::size_t num_workers,
                       int threads) {
  summary.options_used = used;
  summary.method_used = used.method;
  summary.num_workers = static_cast<std::int64_t>(num_workers);
  summary.active_workers = used.active_workers;
  summary.max_staleness = used.max_staleness;
  summary.threads_given = given.threads;
  summary.threads_used = threads;
}

/// Options that no iterate depends on: a resumed run may have others.
constexpr std::array<std::string_view, 7> kFreeOptions{
    "threads", "executor", "iterations", "time_limit", "worker_failure", "worker_retries", "worker_deadline"};

bool is_free(std::string_view option) {
  return std::find(kFreeOptions.begin(), kFreeOptions.end(), option) != kFreeOptions.end();
}

/// What a checkpoint of this run is known by.
CheckpointFacts checkpoint_facts(const Options& options, const Problem& problem) {
  CheckpointFacts facts;
  facts.version = version();
  for (const OptionInfo& info : option_table()) {
    if (!is_free(info.name))
      facts.identity.emplace_back("option " + std::string(info.name), option_value(options, info));
  }
  facts.identity.insert(facts.identity.end(), problem.identity().begin(), problem.identity().end());
  facts.identity.emplace_back("number of workers", std::to_string(problem.num_workers()));
  facts.identity.emplace_back("size of the upper variable", std::to_string(problem.upper_dim()));
  facts.identity.emplace_back("size of the lower variable", std::to_string(problem.lower_dim()));
  return facts;
}

/// Seconds that the end of a run waits for computations that it has given up.
constexpr double kRunawayGrace = 0.2;

detail::InProcessTransport::WaitReport wait_report(Observer* observer) {
  if (observer == nullptr) return {};
  return [observer](std::size_t worker, double seconds) { observer->on_waiting(worker, seconds); };
}

/// What a run consists of, beside the problem. The limits and the observer are the master's alone.
struct Run {
  Run(const Problem& problem, const Options& used, std::shared_ptr<const detail::RunLimits> ends,
      Observer* observer, ArrivalRecorder* recorder, const std::optional<std::vector<Arrival>>& replayed)
      : options(used),
        limits(std::move(ends)),
        method(detail::make_method(problem, options)),
        transport({.programs = std::move(method.programs),
                   .make_snapshot = std::move(method.make_snapshot),
                   .on_reclaim = std::move(method.on_reclaim),
                   .clock = replayed ? std::make_unique<detail::ReplayClock>(*replayed)
                                     : detail::make_clock(options, problem.num_workers()),
                   .executor = detail::make_executor(options.executor, static_cast<int>(options.threads)),
                   .retries = options.worker_retries,
                   .deadline_seconds = options.worker_deadline_seconds,
                   .report_waiting = wait_report(observer),
                   .recorder = recorder},
                  *limits) {}

  Options options;
  std::shared_ptr<const detail::RunLimits> limits;  ///< workers that are given up look at them for longer
  detail::MethodParts method;
  InProcessTransport transport;
};

/// A worker that was given up may still be computing, with parts of the run: they stay for as long as the
/// process lives.
void abandon(std::unique_ptr<Run> run) {
  static std::mutex guard;
  static auto* const abandoned = new std::vector<std::unique_ptr<Run>>;
  const std::scoped_lock lock(guard);
  abandoned->push_back(std::move(run));
}

/// The checkpoint, where it is one of the run that `facts` tell of.
Status open_own(std::span<const std::byte> checkpoint, const CheckpointFacts& facts,
                OpenedCheckpoint& opened) {
  try {
    opened = open_checkpoint(checkpoint);
  } catch (const BadState& error) {
    return {StatusCode::kInvalidCheckpoint, error.what()};
  }
  std::string difference = first_difference(opened.facts, facts);
  if (!difference.empty()) return {StatusCode::kInvalidCheckpoint, std::move(difference)};
  return {};
}

Status check_arrivals(const std::optional<std::vector<Arrival>>& arrivals, std::size_t workers) {
  if (!arrivals) return {};
  for (const Arrival& arrival : *arrivals) {
    if (arrival.worker >= workers) {
      return {StatusCode::kInvalidOption, "the recording names worker " + std::to_string(arrival.worker) +
                                              "; the problem has " + std::to_string(workers)};
    }
  }
  return {};
}

}  // namespace

struct Solver::Impl {
  Options options;
  std::shared_ptr<detail::RunLimits> limits = std::make_shared<detail::RunLimits>();
  ArrivalRecorder* recorder = nullptr;
  std::optional<std::vector<Arrival>> replayed;

  Result run(Problem& problem, std::optional<std::span<const std::byte>> checkpoint, Observer* observer,
             CheckpointSink* sink);
};

Solver::Solver(Options options) : impl_(std::make_unique<Impl>()) { impl_->options = std::move(options); }
Solver::~Solver() = default;

void Solver::record(ArrivalRecorder* recorder) noexcept { impl_->recorder = recorder; }

void Solver::replay(std::vector<Arrival> arrivals) { impl_->replayed = std::move(arrivals); }

Identity Solver::identity(const Problem& problem) const {
  return checkpoint_facts(detail::resolve_options(impl_->options, problem), problem).identity;
}

void Solver::request_stop() noexcept { impl_->limits->request_stop(); }

Result Solver::solve(Problem& problem, Observer* observer, CheckpointSink* checkpoints) {
  return impl_->run(problem, std::nullopt, observer, checkpoints);
}

Result Solver::resume(Problem& problem, std::span<const std::byte> checkpoint, Observer* observer,
                      CheckpointSink* checkpoints) {
  return impl_->run(problem, checkpoint, observer, checkpoints);
}

Result Solver::Impl::run(Problem& problem, std::optional<std::span<const std::byte>> checkpoint,
                         Observer* observer, CheckpointSink* sink) {
  Result result;
  result.status = problem.validate();
  if (!result.status.ok()) return result;
  result.status = validate_options(options, problem.num_workers());
  if (!result.status.ok()) return result;

  result.status = check_arrivals(replayed, problem.num_workers());
  if (!result.status.ok()) return result;

  const Options used = detail::resolve_options(options, problem);
  CheckpointFacts facts;  // nobody asks for them otherwise
  if (sink != nullptr || checkpoint) facts = checkpoint_facts(used, problem);
  OpenedCheckpoint opened;
  if (checkpoint) {
    result.status = open_own(*checkpoint, facts, opened);
    if (!result.status.ok()) return result;
  }

  limits->start(used.time_limit_seconds);  // gigabytes of state take seconds to come into being
  auto run = std::make_unique<Run>(problem, used, limits, observer, recorder, replayed);
  describe_settings(result.summary, options, used, problem.num_workers(), run->transport.threads());
  detail::MasterLoop loop(run->options, *run->method.master, run->transport, *limits, observer,
                          {sink, facts});
  try {
    if (checkpoint) {
      StateArchive saved = StateArchive::loading_from(opened.state);
      loop.resume(saved, result.summary);
    } else {
      loop.run(result.summary);
    }
  } catch (const BadState& error) {
    result.status = {StatusCode::kInvalidCheckpoint, error.what()};
    return result;
  }
  const auto v = loop.final_upper(), z = loop.final_lower();
  result.upper.assign(v.begin(), v.end());
  result.lower.assign(z.begin(), z.end());
  result.summary.has_runaways = run->transport.has_runaways(kRunawayGrace);
  if (result.summary.has_runaways) abandon(std::move(run));
  run.reset();  // while the stop still stands: whoever computes gives up
  limits->clear_stop();
  return result;
}

}  // namespace adbo
