#include "commands/compared_run.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

namespace adbo::app {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

double metric(const Metrics& metrics, std::string_view name) {
  for (const auto& [known, value] : metrics) {
    if (known == name) return value;
  }
  return kNone;
}

/// What the run and, where held-out rows chose its length, the second run took together.
template <class Number>
double total(const FinishedRun& run, Number Summary::*member) {
  const auto of_second = run.held_out && run.held_out->refit ? (*run.held_out->refit).*member : Number{};
  return static_cast<double>(run.summary.*member + of_second);
}
double total(const FinishedRun& run, std::int64_t Counts::*member) {
  const auto of_second = run.held_out && run.held_out->refit ? run.held_out->refit->counts.*member : 0;
  return static_cast<double>(run.summary.counts.*member + of_second);
}

bool ended_well(Termination termination) {
  return termination != Termination::kDiverged && termination != Termination::kFailed &&
         termination != Termination::kSolveFailed && termination != Termination::kNotRun;
}

void add_dropped(std::string& text, const Summary& summary, std::string_view of_run) {
  for (const DroppedWorker& dropped : summary.dropped_workers) {
    text += fmt::format("{}worker {} at iteration {}{} ({})", text.empty() ? "" : "; ", dropped.worker,
                        dropped.iteration, of_run, dropped.why);
  }
}

}  // namespace

void add_measures(ComparedRun& row, const Metrics& metrics) {
  for (const auto& [name, value] : metrics) row.values.emplace_back(name, value);
  row.values.emplace_back("value_function_change",
                          metric(metrics, "value_function") - metric(metrics, "value_function_start"));
}

void add_outcome(ComparedRun& row, const FinishedRun& run) {
  row.status = to_string(run.summary.termination);
  row.message = run.summary.message;
  row.note = run.no_value;
  add_dropped(row.dropped, run.summary, "");
  if (run.held_out && run.held_out->refit)
    add_dropped(row.dropped, *run.held_out->refit, " of the second run");
  row.counts = ended_well(run.summary.termination);
  add_measures(row, run.metrics);
  // The state that is delivered is one of those the run came through.
  const auto best = [&](std::string_view name, double along, double (*better)(double, double)) {
    const double value = std::isfinite(along) ? better(along, metric(run.metrics, name)) : kNone;
    row.values.emplace_back(fmt::format("best_{}", name), value);
  };
  const auto largest = [](double a, double b) { return std::fmax(a, b); };
  const auto smallest = [](double a, double b) { return std::fmin(a, b); };
  best("test_accuracy_at_consensus", run.best.test_accuracy, largest);
  best("test_loss_at_consensus", run.best.test_loss, smallest);
  best("value_function", run.best.value_function, smallest);
  best("test_accuracy_retrained", run.best.test_accuracy_retrained, largest);
  if (run.held_out) row.values.emplace_back("held_out_loss", run.held_out->loss);
  row.values.emplace_back("upper_change_max", run.summary.upper_change_max);
  row.values.emplace_back("iterations", total(run, &Summary::iterations));
  row.values.emplace_back("rounds", total(run, &Counts::rounds));
  row.values.emplace_back("sample_gradients", total(run, &Counts::sample_gradients));
  row.values.emplace_back("sample_products", total(run, &Counts::sample_products));
  row.values.emplace_back("messages", total(run, &Counts::messages));
  row.values.emplace_back("bytes", total(run, &Counts::bytes));
  row.values.emplace_back("virtual_seconds", total(run, &Summary::virtual_seconds));
  row.values.emplace_back("wall_seconds", total(run, &Summary::wall_seconds));
  row.values.emplace_back("cpu_seconds", total(run, &Summary::cpu_seconds));
}

Json baseline_json(std::string_view problem, std::string_view name, std::uint64_t seed,
                   const Findings& findings, const Json& data) {
  Json metrics = Json::object();
  for (const auto& [metric_name, value] : findings.metrics) {
    if (std::isfinite(value)) metrics[metric_name] = value;
  }
  return {{"status", "baseline"},
          {"problem", problem},
          {"method", name},
          {"seed", seed},
          {"iterations", 0},
          {"metrics", std::move(metrics)},
          {"words", findings.words},
          {"counts", Json::object()},
          {"config", Json::object()},
          {"data", data},
          {"versions", versions_json()}};
}

}  // namespace adbo::app
