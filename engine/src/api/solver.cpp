#include "adbo/solver.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "adbo/option_table.h"
#include "adbo/version.h"
#include "api/method_factory.h"
#include "api/resolve_options.h"
#include "protocol/checkpoint_image.h"
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
constexpr std::array<std::string_view, 4> kFreeOptions{"threads", "executor", "iterations", "time_limit"};

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

Status refuse(std::string_view what, std::string_view then, std::string_view now) {
  return {StatusCode::kInvalidCheckpoint, std::string(what) + ": " + std::string(then) +
                                              " when the checkpoint was made, " + std::string(now) + " now"};
}

Status compare(const CheckpointFacts& saved, const CheckpointFacts& present) {
  if (saved.version != present.version) return refuse("version of adbo", saved.version, present.version);
  const std::map<std::string, std::string> before(saved.identity.begin(), saved.identity.end());
  for (const auto& [name, value] : present.identity) {
    const auto found = before.find(name);
    const std::string_view then = found == before.end() ? "absent" : std::string_view(found->second);
    if (then != value) return refuse(name, then, value);
  }
  return {};
}

}  // namespace

struct Solver::Impl {
  Options options;
  detail::RunLimits limits;

  Result run(Problem& problem, std::optional<std::span<const std::byte>> checkpoint, Observer* observer,
             CheckpointSink* sink);
};

Solver::Solver(Options options) : impl_(std::make_unique<Impl>()) { impl_->options = std::move(options); }
Solver::~Solver() = default;

void Solver::request_stop() noexcept { impl_->limits.request_stop(); }

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

  const Options used = detail::resolve_options(options, problem.num_workers());
  const CheckpointFacts facts = checkpoint_facts(used, problem);
  detail::OpenedCheckpoint opened;
  if (checkpoint) {
    try {
      opened = detail::open_checkpoint(*checkpoint);
    } catch (const BadState& error) {
      result.status = {StatusCode::kInvalidCheckpoint, error.what()};
      return result;
    }
    result.status = compare(opened.facts, facts);
    if (!result.status.ok()) return result;
  }

  detail::MethodParts method = detail::make_method(problem, used);
  InProcessTransport transport(
      {.programs = std::move(method.programs),
       .make_snapshot = std::move(method.make_snapshot),
       .on_reclaim = std::move(method.on_reclaim),
       .clock = detail::make_clock(used, problem.num_workers()),
       .executor = detail::make_executor(used.executor, static_cast<int>(used.threads))},
      limits);
  describe_settings(result.summary, options, used, problem.num_workers(), transport.threads());

  limits.start(used.time_limit_seconds);
  detail::MasterLoop loop(used, *method.master, transport, limits, observer, {sink, facts});
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
  limits.clear_stop();
  const auto v = loop.final_upper(), z = loop.final_lower();
  result.upper.assign(v.begin(), v.end());
  result.lower.assign(z.begin(), z.end());
  return result;
}

}  // namespace adbo
