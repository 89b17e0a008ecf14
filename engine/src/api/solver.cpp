#include "adbo/solver.h"

#include <utility>

#include "adbo/option_table.h"
#include "api/resolve_options.h"
#include "methods/adbo/adbo_master.h"
#include "methods/adbo/adbo_worker.h"
#include "protocol/master_loop.h"
#include "protocol/run_limits.h"
#include "runtime/clock.h"
#include "runtime/executor.h"
#include "runtime/in_process_transport.h"

namespace adbo {
namespace {

using detail::CutPool;
using detail::InProcessTransport;
using detail::Snapshot;

std::unique_ptr<Snapshot> make_snapshot(const Problem& problem, const Options& options) {
  auto snapshot = std::make_unique<Snapshot>();
  snapshot->upper_consensus.resize(problem.upper_dim());
  snapshot->lower_consensus.resize(problem.lower_dim());
  snapshot->cuts.reserve(static_cast<std::size_t>(options.max_cuts));
  snapshot->cut_multiplier.reserve(static_cast<std::size_t>(options.max_cuts));
  return snapshot;
}

InProcessTransport::Parts make_parts(const Problem& problem, const Options& options, CutPool& pool) {
  InProcessTransport::Parts parts;
  for (std::size_t i = 0; i < problem.num_workers(); ++i) {
    parts.programs.push_back(std::make_unique<detail::AdboWorker>(problem, options, i));
  }
  parts.make_snapshot = [&problem, &options] { return make_snapshot(problem, options); };
  parts.on_reclaim = [&pool](Snapshot& snapshot) {
    for (detail::Cut* cut : snapshot.cuts) pool.unpin(*cut);
    snapshot.cuts.clear();
  };
  parts.clock = detail::make_clock(options, problem.num_workers());
  parts.executor = detail::make_executor(options.executor, static_cast<int>(options.threads));
  return parts;
}

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

}  // namespace

struct Solver::Impl {
  Options options;
  detail::RunLimits limits;
};

Solver::Solver(Options options) : impl_(std::make_unique<Impl>()) { impl_->options = std::move(options); }
Solver::~Solver() = default;

void Solver::request_stop() noexcept { impl_->limits.request_stop(); }

Result Solver::solve(Problem& problem, Observer* observer) {
  Result result;
  result.status = problem.validate();
  if (!result.status.ok()) return result;
  result.status = validate_options(impl_->options, problem.num_workers());
  if (!result.status.ok()) return result;

  const Options options = detail::resolve_options(impl_->options, problem.num_workers());
  CutPool pool(problem.upper_dim(), problem.lower_dim(), problem.num_workers());
  detail::AdboMaster method(problem, options, pool);
  InProcessTransport transport(make_parts(problem, options, pool), impl_->limits);
  describe_settings(result.summary, impl_->options, options, problem.num_workers(), transport.threads());

  impl_->limits.start(options.time_limit_seconds);
  detail::MasterLoop loop(options, method, transport, impl_->limits, observer);
  loop.run(result.summary);
  impl_->limits.clear_stop();
  const auto v = loop.final_upper(), z = loop.final_lower();
  result.upper.assign(v.begin(), v.end());
  result.lower.assign(z.begin(), z.end());
  return result;
}

}  // namespace adbo
