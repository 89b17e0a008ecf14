#include "commands/compare.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

#include "commands/clean.h"
#include "commands/compared_run.h"
#include "commands/problem_run.h"
#include "commands/run_task.h"
#include "commands/tune.h"
#include "io/atomic_file.h"
#include "io/error.h"
#include "io/text.h"
#include "output/comparison_table.h"
#include "settings/step_search.h"
#include "support/exit_code.h"

namespace adbo::app {
namespace {

PreparedTask prepare(Settings& settings, const LoadedData& data, const Console& console) {
  return settings.task().problem == ProblemKind::kClean ? prepare_cleaning(settings, data, console)
                                                        : prepare_tuning(settings, data, console);
}

/// Of a table: names and numbers.
Json steps_json(const StepValues& steps) {
  Json json = Json::object();
  for (const auto& [name, value] : steps) json[std::string(name)] = value;
  return json;
}

/// A method with what the search found out about it.
struct Contender : ComparedMethod {
  explicit Contender(const ComparedMethod& method) : ComparedMethod(method) {}
  Json search;  ///< null: none was asked for
  std::vector<StepCandidate> candidates;
  CandidateRanking ranking;  ///< of those that were run
};

class ComparisonRun {
 public:
  ComparisonRun(const ComparisonRequest& request, const std::vector<ComparedMethod>& methods,
                ComparisonJournal journal, const Environment& environment)
      : request_(request),
        methods_(methods.begin(), methods.end()),
        console_(environment.console),
        journal_(std::move(journal)),
        first_seed_(methods_.front().settings.options().seed),
        stop_(environment.console.quiet()) {
    table_.problem = to_string(task_settings().problem);
  }

  void run() {
    const LoadedData data = load_data(task_settings(), console_);
    if (request_.search > 0) search_all(data);
    for (std::size_t repeat = 1; !is_over() && repeat <= static_cast<std::size_t>(request_.repeat);
         ++repeat) {
      run_repeat(repeat, data);
      write_comparison(folder().path(), table_);
    }
    if (!is_over()) journal_.complete();
  }

  void print() const {
    deliver(console_,
            task_settings().json ? json_text(comparison_json(table_))
                                 : fmt::format("{}\nTables and runs are in {}.\n", markdown_text(table_),
                                               io::detail::printable(folder().path())),
            signal());
    if (is_over()) console_.note(fmt::format("adbo resume {} goes on with this comparison", folder().path()));
  }

  [[nodiscard]] int signal() const { return stop_.received(); }

  [[nodiscard]] ExitCode failure() const { return comparison_failure(comparison_json(table_)); }

 private:
  [[nodiscard]] const TaskSettings& task_settings() const { return methods_.front().settings.task(); }
  [[nodiscard]] const OutputFolder& folder() const { return journal_.folder(); }
  [[nodiscard]] bool is_over() const { return stop_.received() != 0; }

  ComparedRow& row_of(std::string_view name) {
    for (ComparedRow& row : table_.rows) {
      if (row.method == name) return row;
    }
    table_.rows.push_back({.method = std::string(name), .runs = {}});
    return table_.rows.back();
  }

  [[nodiscard]] std::uint64_t seed_of(std::size_t repeat) const { return first_seed_ + repeat - 1; }

  ComparedRun new_run(std::size_t repeat, const PreparedTask& task, std::string_view name) const {
    ComparedRun run;
    run.repeat = repeat;
    run.seed = seed_of(repeat);
    run.digest = task.digest;
    run.folder = fmt::format("{}-{}", name, repeat);
    return run;
  }

  /// Whatever is the first to be prepared, before anything is written.
  void open_journal() {
    if (std::exchange(is_open_, true)) return;
    stop_.listen();
    journal_.open();
  }

  /// All methods get the number of workers that the data allows.
  PreparedTask prepare_repeat(std::size_t repeat, const LoadedData& data) {
    for (Contender& method : methods_) method.settings.set_seed(seed_of(repeat));
    Settings& first = methods_.front().settings;
    PreparedTask task = prepare(first, data, console_);
    for (Contender& method : methods_) method.settings.set_default_workers(first.task().workers);
    identify(task, first);
    journal_.refuse_other_data(seed_of(repeat), task.digest);
    open_journal();
    journal_.keep_data(seed_of(repeat), task.digest);
    return task;
  }

  void run_repeat(std::size_t repeat, const LoadedData& data) {
    const PreparedTask task = prepare_repeat(repeat, data);
    table_.data = task.data;
    console_.progress(fmt::format("repeat {} of {}: baselines", repeat, request_.repeat));
    add_baselines(repeat, task);
    for (const Contender& method : methods_) {
      if (is_over()) return;
      console_.progress(fmt::format("repeat {} of {}: {}", repeat, request_.repeat, method.name));
      ComparedRow& row = row_of(method.name);
      row.runs.push_back(run_method(method, new_run(repeat, task, method.name), task));
      if (row.config.is_null()) row.config = config_json(method.settings, method.settings.options());
      row.search = method.search;
    }
  }

  /// Every method's steps by as many runs: candidates on a split, corruption, start and delays that no repeat
  /// has, then the best ones with twice their steps on yet another.
  void search_all(const LoadedData& data) {
    const SearchBudget budget = search_budget(request_.search);
    const auto seed_after_last = static_cast<std::size_t>(request_.repeat) + 1;
    {
      const PreparedTask task = prepare_repeat(seed_after_last, data);
      for (Contender& method : methods_) {
        if (is_over()) return;
        method.candidates = step_candidates(method.settings, budget.candidates);
        try_candidates(method, new_run(seed_after_last, task, method.name), task);
      }
    }
    if (budget.trials > 0 && !is_over()) {
      const PreparedTask task = prepare_repeat(seed_after_last + 1, data);
      for (Contender& method : methods_) {
        try_doubled(method, budget.trials, new_run(seed_after_last + 1, task, method.name), task);
      }
    }
    for (Contender& method : methods_) choose(method);
  }

  void try_candidates(Contender& method, const ComparedRun& blank, const PreparedTask& task) {
    method.search = Json{{"seed", blank.seed}, {"digest", blank.digest}, {"candidates", Json::array()}};
    for (std::size_t k = 0; k < method.candidates.size() && !is_over(); ++k) {
      console_.progress(
          fmt::format("search, {}: candidate {} of {}", method.name, k + 1, method.candidates.size()));
      const StepCandidate& candidate = method.candidates[k];
      const ComparedRun run = run_with(method, candidate.steps, fmt::format("{}", k + 1), blank, task);
      method.search["candidates"].push_back(search_entry(candidate.steps, run));
      method.ranking.add(
          candidate, run.counts ? value_of(run, "value_function") : std::numeric_limits<double>::quiet_NaN());
    }
  }

  /// Until one stands it, or the runs are spent.
  void try_doubled(Contender& method, std::int64_t runs, const ComparedRun& blank, const PreparedTask& task) {
    Json trials = Json::array();
    for (std::int64_t r = 0; r < runs && method.ranking.has_any_left() && !is_over(); ++r) {
      const std::size_t k = *method.ranking.best();
      console_.progress(fmt::format("search, {}: twice the steps of candidate {}", method.name, k + 1));
      const StepValues steps = doubled_steps(method.settings, method.candidates[k]);
      const ComparedRun run = run_with(method, steps, fmt::format("{}-doubled", k + 1), blank, task);
      Json& entry = trials.emplace_back(search_entry(steps, run));
      entry["candidate"] = k;
      entry["stands"] = stands(run);
      if (stands(run)) break;
      method.ranking.fail(k);
    }
    if (!method.candidates.empty()) method.search["trials"] = std::move(trials);
  }

  /// Neither did the run fail nor F end more than a hundredth above where it began, on its way to diverge.
  static bool stands(const ComparedRun& run) {
    const double end = value_of(run, "value_function"), change = value_of(run, "value_function_change");
    constexpr double kRise = 0.01;
    return run.counts && change <= kRise * std::abs(end - change);  // not where they are NaN
  }

  /// Where no candidate came to a value, the settings stay as they are.
  static void choose(Contender& method) {
    const std::optional<std::size_t> chosen = method.ranking.best();
    if (!chosen) return;
    for (const auto& [name, value] : method.candidates[*chosen].steps) {
      method.settings.set_searched(name, value);
    }
    method.search["chosen"] = *chosen;
    method.search["value_function"] = method.search["candidates"][*chosen]["value_function"];
  }

  ComparedRun run_with(const Contender& method, const StepValues& steps, std::string_view name,
                       ComparedRun run, const PreparedTask& task) {
    ComparedMethod tried = method;
    for (const auto& [option, value] : steps) tried.settings.set_searched(option, value);
    run.folder = fmt::format("search/{}-{}", method.name, name);
    return run_method(tried, std::move(run), task);
  }

  static Json search_entry(const StepValues& steps, const ComparedRun& run) {
    Json entry{{"steps", steps_json(steps)}, {"status", run.status}, {"folder", run.folder}};
    for (const std::string_view name : {"value_function", "iterations", "virtual_seconds", "cpu_seconds"}) {
      const double value = value_of(run, name);
      if (std::isfinite(value)) entry[std::string(name)] = value;
    }
    return entry;
  }

  void add_baselines(std::size_t repeat, const PreparedTask& task) {
    const std::string key = fmt::format("baselines-{}", repeat);
    if (journal_.find(key) == nullptr) journal_.keep(key, measure_baselines(repeat, task));
    for (const auto& [row, run] : *journal_.find(key)) row_of(row).runs.push_back(run);
  }

  std::vector<ComparisonJournal::Finished> measure_baselines(std::size_t repeat,
                                                             const PreparedTask& task) const {
    std::vector<ComparisonJournal::Finished> finished;
    for (const Baseline& baseline : task.make_baselines()) {
      ComparedRun run = new_run(repeat, task, baseline.name);
      run.status = "baseline";
      run.counts = true;
      if (baseline.state) {
        const OutputFolder own(folder().file(run.folder));
        own.create();
        const Findings findings = task.conclude(*baseline.state, own, {});
        add_measures(run, findings.metrics);
        run.note = findings.no_value;
        io::write_file(own.file("summary.json"), json_text(baseline_json(table_.problem, baseline.name,
                                                                         run.seed, findings, task.data)));
      } else {
        run.folder.clear();
        add_measures(run, baseline.metrics);
      }
      run.values.emplace_back("wall_seconds", baseline.seconds);
      finished.push_back({std::string(baseline.name), std::move(run)});
    }
    return finished;
  }

  /// A run that a signal cut short is not over; a checkpoint of it stays.
  ComparedRun run_method(const ComparedMethod& method, ComparedRun run, const PreparedTask& task) {
    const std::string key = run.folder;
    const auto* const finished = journal_.find(key);
    if (finished != nullptr && has_results(finished->front().run)) return finished->front().run;
    const RunJournal journal = journal_.journal_of_run(key, console_, checkpoint_rule(method.settings));
    run = run_anew(method, std::move(run), journal, task);
    if (is_over()) return run;
    journal_.keep(key, {{method.name, run}});
    journal.forget();
    return run;
  }

  /// A run whose files were removed since is run again: what failed or was refused may have left none.
  [[nodiscard]] bool has_results(const ComparedRun& run) const {
    std::error_code ignored;
    return !run.counts || std::filesystem::exists(folder().file(run.folder + "/summary.json"), ignored);
  }

  ComparedRun run_anew(const ComparedMethod& method, ComparedRun run, const RunJournal& journal,
                       const PreparedTask& task) {
    try {
      refuse_invalid_options(method.settings);
      const FinishedRun finished =
          run_task(task, method.settings, journal, std::chrono::steady_clock::now(), stop_, console_);
      add_outcome(run, finished);
    } catch (const UnfitCheckpoint& error) {
      throw UsageError(fmt::format("{}: {}", folder().file(run.folder), error.what()));
    } catch (const UsageError& error) {
      run.status = "refused";
      run.message = error.what();
    } catch (const io::OutputError&) {
      throw;  // what keeps one run from being written keeps the others too
    } catch (const std::exception& error) {
      run.status = "failed";
      run.message = error.what();
    }
    return run;
  }

  ComparisonRequest request_;
  std::vector<Contender> methods_;
  const Console& console_;
  ComparisonJournal journal_;
  bool is_open_ = false;
  std::uint64_t first_seed_;
  StopSignal stop_;
  ComparisonTable table_;
};

/// A comparison that no method can take part in is a mistake in the settings.
void refuse_if_all_invalid(const std::vector<ComparedMethod>& methods) {
  std::optional<UsageError> first;
  for (const ComparedMethod& method : methods) {
    try {
      refuse_invalid_options(method.settings);
      return;
    } catch (const UsageError& error) {
      if (!first) first = error;
    }
  }
  throw *first;
}

}  // namespace

ExitCode comparison_failure(const Json& table) {
  ExitCode first = ExitCode::kFinished;
  for (const Json& row : table.at("rows")) {
    for (const Json& run : row.at("runs")) {
      const std::string status = run.at("status").get<std::string>();
      if (status == "baseline") continue;
      if (run.at("counts").get<bool>()) return ExitCode::kFinished;
      if (first != ExitCode::kFinished) continue;
      first = status == "refused" ? ExitCode::kUsage : failure_code(status).value_or(ExitCode::kWorkerFailed);
    }
  }
  return first;
}

ExitCode compare_methods(const ComparisonRequest& request, const std::vector<ComparedMethod>& methods,
                         ComparisonJournal journal, const Environment& environment) {
  refuse_if_all_invalid(methods);
  refuse_inputs_in(journal.folder(), methods.front().settings, true);
  environment.limit_threads(methods.front().settings.options().threads);
  ComparisonRun comparison(request, methods, std::move(journal), environment);
  comparison.run();
  comparison.print();
  return comparison.signal() != 0 ? stopped_by(comparison.signal()) : comparison.failure();
}

}  // namespace adbo::app
