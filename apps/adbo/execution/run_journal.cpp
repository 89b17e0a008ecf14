#include "execution/run_journal.h"

#include <fmt/format.h>

#include <filesystem>
#include <span>
#include <utility>

#include "io/atomic_file.h"
#include "io/byte_source.h"
#include "io/error.h"
#include "output/trace_csv.h"
#include "support/exit_code.h"

namespace adbo::app {
namespace {

constexpr std::string_view kChosenFile = "chosen.adbo";
const std::string kFirstRun(kCheckpointPrefix), kSecondRun = kFirstRun + "-refit";

}  // namespace

RunJournal RunJournal::begun(const OutputFolder& folder, const Console& console, SavedRun run,
                             CheckpointRule rule) {
  RunJournal journal(folder, console);
  journal.rule_ = rule;
  journal.saved_ = std::move(run);
  return journal;
}

RunJournal RunJournal::resumed(const OutputFolder& folder, const Console& console, SavedRun run,
                               CheckpointRule rule) {
  RunJournal journal(folder, console);
  journal.rule_ = rule;
  journal.is_resumed_ = true;
  journal.saved_ = std::move(run);
  return journal;
}

RunJournal RunJournal::part(const OutputFolder& folder, const Console& console, CheckpointRule rule,
                            bool command_goes_on) {
  RunJournal journal(folder, console);
  journal.rule_ = rule;
  journal.is_part_ = true;
  journal.is_resumed_ = command_goes_on && journal.has_anything();
  return journal;
}

void RunJournal::open(const Identity& identity) const {
  if (is_resumed_) {
    const std::string difference =
        saved_.identity.empty() ? "" : first_difference(saved_.identity, identity, "when the run was begun");
    if (!difference.empty()) throw UnfitCheckpoint("the run cannot be gone on with: " + difference);
    folder_.reopen();
    return;
  }
  const bool held_others = !is_part_ && has_checkpoints(folder_, kFirstRun);
  folder_.create();  // refuses where another process writes
  if (held_others) {
    console_->warning(
        fmt::format("{}: held the checkpoints of another run; they were removed", folder_.path()));
  }
  if (is_part_) return;
  SavedRun begun = saved_;
  begun.identity = identity;
  io::write_file(folder_.file(kSavedRunFile), saved_run_text(begun));
}

RunFiles RunJournal::files_of(const std::string& prefix, const std::string& trace) const {
  RunFiles files;
  files.trace = folder_.file(trace);
  files.checkpoints = std::make_shared<CheckpointFiles>(folder_, prefix, rule_);
  if (!is_resumed_) return files;
  files.from = newest_checkpoint(folder_, prefix, *console_);
  std::string begun_at;
  if (files.from) {
    begun_at = fmt::format("going on from {} after {} iterations", files.from->name, files.from->iteration);
  }
  files.when_accepted = [folder = folder_, console = console_, begun_at] {
    folder.remove_results();
    if (!begun_at.empty()) console->progress(begun_at);
  };
  if (!files.from && prefix == kFirstRun) {
    console_->warning(fmt::format("{}: there is no checkpoint; the run begins at its start", folder_.path()));
  }
  return files;
}

std::string RunJournal::first_trace() const { return folder_.file("trace.csv"); }

RunFiles RunJournal::first_run() const { return files_of(kFirstRun, "trace.csv"); }
RunFiles RunJournal::second_run() const { return files_of(kSecondRun, "trace_refit.csv"); }

void RunJournal::forget() const {
  remove_checkpoints(folder_, kFirstRun);
  forget_second_run();
}

void RunJournal::forget_second_run() const {
  std::error_code ignored;
  std::filesystem::remove(folder_.file(kChosenFile), ignored);
  remove_checkpoints(folder_, kSecondRun);
}

bool RunJournal::has_anything() const {
  std::error_code ignored;
  return has_checkpoints(folder_, kFirstRun) || std::filesystem::exists(folder_.file(kChosenFile), ignored);
}

std::optional<RunOutcome> RunJournal::chosen(const Identity& identity) const {
  std::error_code ignored;
  const std::string path = folder_.file(kChosenFile);
  if (!is_resumed_ || !std::filesystem::exists(path, ignored)) return std::nullopt;
  try {
    const std::string bytes = io::read_bytes(path);
    RunOutcome outcome = load_outcome(std::as_bytes(std::span(bytes)), identity);
    TraceCsv trace(first_trace(), TraceCsv::Continued{});
    const std::string found = continuation_text(first_trace(), trace.continue_at(outcome.trace));
    if (!found.empty()) console_->warning(found);
    trace.finish();
    return outcome;
  } catch (const io::InputError& error) {  // names the file
    console_->warning(fmt::format("{}; the first run is gone on with instead", error.what()));
    return std::nullopt;
  } catch (const std::exception& error) {
    console_->warning(fmt::format("{}: {}; the first run is gone on with instead", path, error.what()));
    return std::nullopt;
  }
}

void RunJournal::keep_chosen(RunOutcome& outcome, const Identity& identity) const {
  write_image(folder_.file(kChosenFile), save_outcome(outcome, identity));
}

}  // namespace adbo::app
