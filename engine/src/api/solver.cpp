#include "adbo/solver.h"

#include <utility>

#include "adbo/option_table.h"
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
  detail::MethodParts method = detail::make_method(problem, options);
  InProcessTransport transport(
      {.programs = std::move(method.programs),
       .make_snapshot = std::move(method.make_snapshot),
       .on_reclaim = std::move(method.on_reclaim),
       .clock = detail::make_clock(options, problem.num_workers()),
       .executor = detail::make_executor(options.executor, static_cast<int>(options.threads))},
      impl_->limits);
  describe_settings(result.summary, impl_->options, options, problem.num_workers(), transport.threads());

  impl_->limits.start(options.time_limit_seconds);
  detail::MasterLoop loop(options, *method.master, transport, impl_->limits, observer);
  loop.run(result.summary);
  impl_->limits.clear_stop();
  const auto v = loop.final_upper(), z = loop.final_lower();
  result.upper.assign(v.begin(), v.end());
  result.lower.assign(z.begin(), z.end());
  return result;
}

}  // namespace adbo
