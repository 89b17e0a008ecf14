#pragma once
// A method's workers, for rounds and iterations by hand.

#include <memory>
#include <utility>

#include "adbo/adbo.h"
#include "api/method_factory.h"
#include "api/resolve_options.h"
#include "methods/synchronous/rounds.h"
#include "protocol/run_limits.h"
#include "runtime/clock.h"
#include "runtime/in_process_transport.h"

namespace adbo::test {

/// The workers' halves of a method that works in rounds, behind a transport, for rounds without a master.
class RoundWorkers {
 public:
  RoundWorkers(Problem& problem, const Options& options)
      : options_(detail::resolve_options(options, problem)), rounds_(problem) {
    detail::MethodParts parts = detail::make_method(problem, options_);
    transport_ = std::make_unique<detail::InProcessTransport>(
        detail::InProcessTransport::Parts{.programs = std::move(parts.programs),
                                          .make_snapshot = std::move(parts.make_snapshot),
                                          .on_reclaim = std::move(parts.on_reclaim),
                                          .clock = detail::make_clock(options_, problem.num_workers()),
                                          .executor = detail::make_executor(ExecutorKind::kInline, 1)},
        limits_);
    master_ = std::move(parts.master);
    master_->fill(transport_->draft());
    transport_->publish();
    rounds_.attach(*transport_);
  }
  detail::Rounds& rounds() { return rounds_; }
  /// The method's own master, for iterations by hand.
  detail::MethodMaster& master() { return *master_; }
  detail::Transport& transport() { return *transport_; }

 private:
  Options options_;
  detail::RunLimits limits_;
  std::unique_ptr<detail::MethodMaster> master_;
  std::unique_ptr<detail::InProcessTransport> transport_;
  detail::Rounds rounds_;
};

}  // namespace adbo::test
