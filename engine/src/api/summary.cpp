#include "adbo/summary.h"

#include <sstream>
#include <utility>

#include "adbo/option_table.h"

namespace adbo {

std::string_view to_string(Termination termination) {
  switch (termination) {
    case Termination::kNotRun:
      return "not_run";
    case Termination::kConverged:
      return "converged";
    case Termination::kIterationLimit:
      return "iteration_limit";
    case Termination::kTimeLimit:
      return "time_limit";
    case Termination::kStopped:
      return "stopped";
    case Termination::kDiverged:
      return "diverged";
    case Termination::kFailed:
      return "failed";
    case Termination::kStalled:
      return "stalled";
    case Termination::kSolveFailed:
      return "solve_failed";
  }
  return "unknown";
}

namespace {

/// By the option table: names and values.
void persist_options(StateArchive& archive, Options& options) {
  std::vector<std::pair<std::string, std::string>> values;
  for (const OptionInfo& info : option_table()) {
    values.emplace_back(std::string(info.name), option_value(options, info));
  }
  archive.sized(values);
  if (!archive.is_loading()) return;
  for (const auto& [name, value] : values) {
    if (const Status status = set_option(options, name, value); !status.ok())
      throw BadState(status.message());
  }
}

}  // namespace

void Summary::persist(StateArchive& archive) {
  archive.sized(termination, message, method_used, iterations, wall_seconds, virtual_seconds, cpu_seconds,
                barrier_virtual_seconds, num_workers, active_workers, max_staleness, threads_given,
                threads_used, upper_change_max, stationarity_gap, stationarity_iteration, adjoint_residual,
                consensus_error, counts, dropped_workers, staleness_histogram);
  persist_options(archive, options_used);
}

std::string Summary::one_line() const {
  std::ostringstream line;
  line << method_name(method_used) << ": " << to_string(termination) << " after " << iterations
       << " iterations, " << wall_seconds << " s wall, " << virtual_seconds << " s virtual, "
       << counts.cuts_alive << " cuts";
  if (!message.empty()) line << " (" << message << ")";
  return line.str();
}

std::string Summary::full_report() const {
  std::ostringstream report;
  report << one_line() << "\n"
         << "  workers " << num_workers << ", awaited " << active_workers << ", staleness bound "
         << max_staleness << ", threads " << threads_given << " given, " << threads_used << " used\n"
         << "  cpu " << cpu_seconds << " s, waiting for all workers " << barrier_virtual_seconds
         << " virtual s\n"
         << "  largest change of the upper variable " << upper_change_max << "\n";
  if (stationarity_gap >= 0) report << "  stationarity gap " << stationarity_gap << "\n";
  report << "  evaluations: " << counts.upper_gradients << " upper gradients, " << counts.lower_gradients
         << " lower gradients, " << counts.hessian_products << " Hessian products, " << counts.cross_products
         << " cross products\n"
         << "  over single samples: " << counts.sample_gradients << " gradients, " << counts.sample_products
         << " products\n"
         << "  " << counts.rounds << " rounds, " << counts.messages << " messages, " << counts.bytes
         << " bytes; cuts: " << counts.cuts_added << " added, " << counts.cuts_dropped << " dropped, "
         << counts.cuts_alive << " alive\n"
         << "  age of the answers used, in iterations:";
  for (std::size_t k = 0; k < staleness_histogram.size(); ++k) {
    if (staleness_histogram[k] > 0) report << " " << k << ":" << staleness_histogram[k];
  }
  report << "\n";
  return report.str();
}

}  // namespace adbo
