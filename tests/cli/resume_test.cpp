// Commands that are killed, stopped or over, and gone on with.
#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "run_command.h"
#include "run_results.h"

using adbo::test::contains;
using adbo::test::deterministic_summary;
using adbo::test::deterministic_trace;
using adbo::test::libsvm_rows;
using adbo::test::line_count;
using adbo::test::operator+;
using adbo::test::Outcome;
using adbo::test::Workspace;
using Json = nlohmann::json;

namespace {

using Arguments = std::vector<std::string>;

/// What all commands here have in common.
Arguments run_settings(const Workspace& files, const std::string& out, const std::string& iterations) {
  return {"--train",
          files.write("train.libsvm", libsvm_rows(160, 6, 1)),
          "--test",
          files.write("test.libsvm", libsvm_rows(60, 6, 2)),
          "--workers",
          "4",
          "--iterations",
          iterations,
          "--clock",
          "virtual",
          "--delay",
          "lognormal:3.5,1",
          "--corrupt",
          "0.2",
          "--out",
          out,
          "--checkpoint-every",
          "1"};
}

Arguments cleaning(const Workspace& files, const std::string& out, const std::string& iterations = "45") {
  return Arguments{"clean", "--stragglers", "1:4", "--patience", "0"} + run_settings(files, out, iterations);
}

/// Without an option and its value.
Arguments without(Arguments arguments, std::string_view option) {
  const auto found = std::find(arguments.begin(), arguments.end(), option);
  arguments.erase(found, found + 2);
  return arguments;
}

void check_same_results(const Workspace& files, const std::string& one, const std::string& other) {
  for (const char* const name : {"upper.npy", "model.npy", "suspects.csv"})
    CHECK(files.exists(one + "/" + name));
  CHECK(adbo::test::difference_of(files, one, other) == "");
}

/// The checkpoints of the first run in a folder, oldest first.
std::vector<std::string> checkpoints(const Workspace& files, const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(files.path(folder))) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("checkpoint-0") && name.ends_with(".adbo")) names.push_back(folder + "/" + name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// Whether a killed run left its first run under way: its checkpoint is what a resume goes on from.
bool is_within_first_run(const Workspace& files, const std::string& folder) {
  return !checkpoints(files, folder).empty() && !files.exists(folder + "/chosen.adbo");
}

/// Kills the run once its trace has more than `lines` lines. False: it was over before.
bool kill_at(const Workspace& files, const Arguments& arguments, const std::string& trace,
             std::size_t lines) {
  try {
    return files.run_and_signal(arguments, SIGKILL, trace, lines).code == 128 + SIGKILL;
  } catch (const std::runtime_error&) {
    return false;
  }
}

}  // namespace

TEST_CASE("resume after kill -9: variables, trace and summary of the run that was not killed") {
  const Workspace files;
  REQUIRE(files.run(cleaning(files, "straight")).code == 0);
  for (const std::size_t lines : {2U, 17U, 40U}) {
    INFO(lines);
    const std::string folder = "killed" + std::to_string(lines);
    if (kill_at(files, cleaning(files, folder), folder + "/trace.csv", lines)) {
      CHECK_FALSE(files.exists(folder + "/summary.json"));
    }
    const Outcome resumed = files.run({"resume", folder});
    INFO(resumed.err);
    REQUIRE(resumed.code == 0);
    check_same_results(files, "straight", folder);
    for (const auto& entry : std::filesystem::directory_iterator(files.path(folder))) {
      CHECK_FALSE(contains(entry.path().filename().string(), ".partial-"));
    }
  }
}

TEST_CASE("resume of a run that patience had ended, killed while it was measured") {
  const Workspace files;
  for (const bool refits : {true, false}) {
    const auto patient = [&](const std::string& out) {
      Arguments line = cleaning(files, out, "400");
      *(std::find(line.begin(), line.end(), "--patience") + 1) = "10";
      if (!refits) line.insert(line.end(), {"--after-holdout", "keep"});
      return line;
    };
    REQUIRE(files.run(patient("straight")).code == 0);
    const Json summary = Json::parse(files.read("straight/summary.json"));
    REQUIRE(contains(summary["message"].get<std::string>(), "patience"));
    std::filesystem::remove_all(files.path("killed"));
    kill_at(files, patient("killed"), "killed/upper.npy", 0);
    std::filesystem::remove(files.path("killed/summary.json"));  // where it was faster than the signal
    REQUIRE(files.run({"resume", "killed"}).code == 0);
    check_same_results(files, "straight", "killed");
  }
}

TEST_CASE("resume of a tuning run, killed again and again") {
  const Workspace files;
  const auto tuning = [&files](const std::string& out) {
    return Arguments{"tune",
                     "--train",
                     files.write("train.libsvm", libsvm_rows(160, 6, 1)),
                     "--iterations",
                     "80",
                     "--workers",
                     "4",
                     "--clock",
                     "virtual",
                     "--delay",
                     "lognormal:3.5,1",
                     "--out",
                     out,
                     "--checkpoint-every",
                     "1",
                     "--resolve-every",
                     "7"};
  };
  REQUIRE(files.run(tuning("straight")).code == 0);
  (void)kill_at(files, tuning("killed"), "killed/trace.csv", 5);
  for (const std::size_t lines : {15U, 30U, 45U}) {
    (void)kill_at(files, {"resume", "killed"}, "killed/trace.csv", lines);
  }
  const Outcome resumed = files.run({"resume", "killed"});
  INFO(resumed.err);
  REQUIRE(resumed.code == 0);
  CHECK(deterministic_trace(files.read("straight/trace.csv")) ==
        deterministic_trace(files.read("killed/trace.csv")));
  CHECK(files.read("straight/upper.npy") == files.read("killed/upper.npy"));
  CHECK(deterministic_summary(files.read("straight/summary.json")) ==
        deterministic_summary(files.read("killed/summary.json")));
}

TEST_CASE("a damaged newest checkpoint: the one before it is used, and why is said") {
  const Workspace files;
  REQUIRE(files.run(cleaning(files, "straight")).code == 0);
  enum class Damage { kTruncated, kFlipped, kEmpty };
  for (const Damage damage : {Damage::kTruncated, Damage::kFlipped, Damage::kEmpty}) {
    const std::string folder = "killed" + std::to_string(static_cast<int>(damage));
    (void)kill_at(files, cleaning(files, folder), folder + "/trace.csv", 20);
    std::filesystem::remove(files.path(folder + "/summary.json"));
    std::filesystem::remove(files.path(folder + "/chosen.adbo"));
    const std::vector<std::string> found = checkpoints(files, folder);
    REQUIRE(found.size() >= 2);
    std::string bytes = files.read(found.back());
    if (damage == Damage::kTruncated) bytes.resize(bytes.size() / 2);
    if (damage == Damage::kFlipped) bytes[bytes.size() / 3] ^= 1;
    if (damage == Damage::kEmpty) bytes.clear();
    (void)files.write(found.back(), bytes);
    const Outcome resumed = files.run({"resume", folder});
    INFO(folder, " ", found.back(), " of ", found.size(), "\n", resumed.err);
    REQUIRE(resumed.code == 0);
    CHECK(contains(resumed.err, "adbo: warning: " + found.back()));  // --quiet lets warnings through
    CHECK(contains(resumed.err, "the one before it is looked for"));
    check_same_results(files, "straight", folder);
  }
}

TEST_CASE("a run that a signal stops says how to go on, and goes on") {
  const Workspace files;
  REQUIRE(files.run(cleaning(files, "straight", "1200")).code == 0);
  const Outcome stopped =
      files.run_and_signal(cleaning(files, "stopped", "1200"), SIGTERM, "stopped/trace.csv", 30);
  if (stopped.code == 143) {
    CHECK(contains(stopped.err, "adbo resume stopped goes on with this run"));
    CHECK(Json::parse(files.read("stopped/summary.json"))["resumable"] == true);
  }
  const Outcome resumed = files.run({"resume", "stopped"});
  REQUIRE(resumed.code == 0);
  CHECK(contains(resumed.err, stopped.code == 143 ? "going on from" : "the run is over"));
  check_same_results(files, "straight", "stopped");
}

TEST_CASE("more iterations for a run that is over: the straight run of as many") {
  const Workspace files;
  const Arguments fixed{"--evaluate-every", "5", "--holdout", "0"};
  const auto run = [&](const std::string& out, const std::string& iterations) {
    return without(cleaning(files, out, iterations), "--patience") + fixed;
  };
  REQUIRE(files.run(run("straight", "12")).code == 0);
  REQUIRE(files.run(run("parts", "1")).code == 0);
  for (int t = 2; t <= 12; ++t) {
    const Outcome outcome = files.run({"resume", "parts", "--iterations", std::to_string(t)});
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK(line_count(files.read("parts/trace.csv")) == static_cast<std::size_t>(t) + 2);
  }
  // The final value of --iterations tests once at the end of every part: the columns of tests differ, no
  // other.
  CHECK(files.read("straight/upper.npy") == files.read("parts/upper.npy"));
  CHECK(files.read("straight/suspects.csv") == files.read("parts/suspects.csv"));

  const Outcome over = files.run({"resume", "parts"});
  CHECK(over.code == 0);
  CHECK(contains(over.err, "the run is over (iteration_limit after 12 iterations)"));
}

TEST_CASE("a second run that is cut short is said, and is gone on with") {
  const Workspace files;
  REQUIRE(files.run(cleaning(files, "straight", "300")).code == 0);
  const Outcome stopped =
      files.run_and_signal(cleaning(files, "stopped", "300"), SIGINT, "stopped/trace_refit.csv", 3);
  INFO(stopped.err);
  const Json summary = Json::parse(files.read("stopped/summary.json"));
  if (summary.contains("refit_cut_short")) {  // or it was faster than the signal
    CHECK(summary["resumable"] == true);
    CHECK(summary["refit_cut_short"]["iterations"].get<long>() > 0);
    CHECK(summary["refit_cut_short"]["why"] == "a signal came");
    CHECK(contains(stopped.out, "The second run, with all validation rows, was cut short after "));
  } else {
    MESSAGE("the second run was faster than the signal");
  }
  // The signal may have met the measuring instead.
  if (summary.value("resumable", false)) REQUIRE(files.run({"resume", "stopped"}).code == 0);
  check_same_results(files, "straight", "stopped");
}

TEST_CASE("a second run that a worker ends: exit code 5, and resume goes on with it if it is told to") {
  const Workspace files;
  REQUIRE(files.run(cleaning(files, "straight", "300")).code == 0);
  const Arguments hasty{"--worker-deadline", "1e-9", "--executor", "threads", "--threads", "4"};
  Json cut = Json::object();
  for (int k = 0; k < 10 && cut.value("status", "") != "failed"; ++k) {
    std::filesystem::remove_all(files.path("late"));
    const bool is_killed = kill_at(files, cleaning(files, "late", "300"), "late/trace_refit.csv", 3);
    if (!is_killed || !files.exists("late/chosen.adbo")) continue;  // the kill came too late or too early
    const Outcome outcome = files.run(Arguments{"resume", "late"} + hasty);
    cut = Json::parse(files.read("late/summary.json")).value("refit_cut_short", Json::object());
    CHECK(outcome.code == (cut.empty() ? 0 : 5));
  }
  REQUIRE(cut["status"] == "failed");
  CHECK(contains(cut["why"].get<std::string>(), "no answer within"));
  CHECK(files.run({"resume", "late"}).code == 5);
  const Outcome last = files.run({"resume", "late", "--worker-deadline", "100"});
  INFO(last.err);
  REQUIRE(last.code == 0);
  for (const char* const name : {"upper.npy", "model.npy", "suspects.csv"}) {
    CHECK(files.read(std::string("straight/") + name) == files.read(std::string("late/") + name));
  }
}

TEST_CASE("another run's chosen.adbo is not taken for the outcome of this one") {
  const Workspace files;
  REQUIRE(files.run(cleaning(files, "straight", "200")).code == 0);
  for (const Arguments& other :
       {Arguments{"--method", "soba", "--step-upper", "20"}, Arguments{"--upper-rate", "0.5"}}) {
    std::filesystem::remove_all(files.path("other"));
    std::filesystem::remove_all(files.path("killed"));
    kill_at(files, cleaning(files, "other", "200") + other, "other/trace_refit.csv", 3);
    kill_at(files, cleaning(files, "killed", "200"), "killed/trace.csv", 20);
    if (!files.exists("other/chosen.adbo") || !is_within_first_run(files, "killed")) continue;  // late
    CHECK(contains(files.run({"report", "killed"}).err, "that is not over"));
    std::filesystem::copy(files.path("other/chosen.adbo"), files.path("killed/chosen.adbo"));
    const Outcome resumed = files.run({"resume", "killed"});
    INFO(resumed.err);
    REQUIRE(resumed.code == 0);
    CHECK(contains(resumed.err, "killed/chosen.adbo: option "));
    CHECK(contains(resumed.err, "the first run is gone on with instead"));
    check_same_results(files, "straight", "killed");
  }
}

TEST_CASE("a checkpoint of the run in the place of its chosen.adbo is not taken for an outcome") {
  const Workspace files;
  REQUIRE(files.run(cleaning(files, "straight")).code == 0);
  kill_at(files, cleaning(files, "killed"), "killed/trace_refit.csv", 3);
  if (!files.exists("killed/chosen.adbo")) return;
  std::filesystem::remove(files.path("killed/summary.json"));
  const std::string trace = files.read("killed/trace.csv");
  const std::vector<std::string> found = checkpoints(files, "killed");
  REQUIRE_FALSE(found.empty());
  files.write("killed/chosen.adbo", files.read(found.front()));
  const Outcome resumed = files.run({"resume", "killed"});
  INFO(resumed.err);
  CHECK(resumed.code == 0);
  CHECK(contains(resumed.err, "chosen.adbo"));
  CHECK(contains(resumed.err, "the first run is gone on with instead"));
  check_same_results(files, "straight", "killed");
}

TEST_CASE("a first trace that has lost its end while the second run is under way is said to") {
  const Workspace files;
  REQUIRE(files.run(cleaning(files, "straight")).code == 0);
  for (const bool is_removed : {false, true}) {
    std::filesystem::remove_all(files.path("killed"));
    kill_at(files, cleaning(files, "killed"), "killed/trace_refit.csv", 3);
    if (!files.exists("killed/chosen.adbo")) continue;
    std::string trace = files.read("killed/trace.csv");
    if (is_removed) {
      std::filesystem::remove(files.path("killed/trace.csv"));
    } else {
      files.write("killed/trace.csv", trace.substr(0, trace.size() - 30));
    }
    if (files.exists("killed/summary.json")) std::filesystem::remove(files.path("killed/summary.json"));
    const Outcome outcome = files.run({"resume", "killed"});
    CHECK(outcome.code == 0);
    CHECK(contains(outcome.err, "the missing ones are lost"));
    const std::string cut = files.read("killed/trace.csv");
    CHECK(cut.ends_with('\n'));
    CHECK(line_count(cut) == (is_removed ? 1 : line_count(trace) - 1));
  }
}

TEST_CASE("resume of what is over asks for no more than to read its folder") {
  const Workspace files;
  std::filesystem::create_directory(files.path("disk"));
  const std::string disk = files.path("disk");
  if (::mount("none", disk.c_str(), "tmpfs", 0, "size=16m") != 0) {
    MESSAGE("skipped: no file system can be mounted here");
    return;
  }
  const int run = files.run(cleaning(files, "disk/run")).code;
  const int comparison = files
                             .run(Arguments{"compare", "--problem", "clean", "--methods", "auto"} +
                                  run_settings(files, "disk/comparison", "5"))
                             .code;
  const int remounted = ::mount("none", disk.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, "size=16m");
  const Outcome run_over = files.run({"resume", "disk/run"});
  const Outcome longer = files.run({"resume", "disk/run", "--iterations", "60"});
  const Outcome comparison_over = files.run({"resume", "disk/comparison"});
  ::umount(disk.c_str());
  REQUIRE(run == 0);
  REQUIRE(comparison == 0);
  REQUIRE(remounted == 0);
  CHECK(run_over.code == 0);
  CHECK(contains(run_over.err, "the run is over"));
  CHECK(longer.code == 2);
  CHECK(contains(longer.err, "cannot be written to: Read-only file system"));
  CHECK(comparison_over.code == 0);
  CHECK(contains(comparison_over.err, "the comparison is over"));
}

TEST_CASE("pipes where plain files belong are refused before anything waits for them") {
  const Workspace files;
  REQUIRE(::mkfifo(files.path("recording").c_str(), 0600) == 0);
  const Outcome replayed = files.run(
      Arguments{"clean", "--clock", "replay:recording"} +
      without(without(without(run_settings(files, "out", "5"), "--clock"), "--delay"), "--corrupt"));
  CHECK(replayed.code == 3);
  CHECK(contains(replayed.err, "recording: is no plain file"));
  for (const std::string name : {"trace.csv", "run.json", "summary.json", "checkpoint-000000001.adbo"}) {
    std::filesystem::remove_all(files.path("held"));
    std::filesystem::create_directory(files.path("held"));
    REQUIRE(::mkfifo(files.path("held/" + name).c_str(), 0600) == 0);
    const Outcome refused = files.run(cleaning(files, "held", "5"));
    CHECK(refused.code == 2);
    CHECK(contains(refused.err, name + " is a pipe, where a file of that name goes"));
  }
}

TEST_CASE("resume refuses what has changed, with the old and the new value") {
  const Workspace files;
  (void)kill_at(files, cleaning(files, "killed"), "killed/trace.csv", 10);
  std::filesystem::remove(files.path("killed/summary.json"));
  const auto refusal = [&files](const Arguments& arguments) {
    const Outcome outcome = files.run(Arguments{"resume", "killed"} + arguments);
    CHECK(outcome.code == 2);
    return outcome.err;
  };
  CHECK(contains(refusal({"--seed", "7"}), "--seed: the run has seed = 1, not 7"));
  CHECK(contains(refusal({"--corrupt", "0.3"}), "--corrupt: the run has corrupt = 0.2, not 0.3"));
  CHECK(contains(refusal({"--parametrization", "exp"}), "no effect for clean"));
  CHECK(contains(refusal({"--sede", "7"}), "--sede"));
  CHECK(contains(refusal({"--out", "other"}), "--out has no effect for resume"));
  CHECK(files.run({"resume", "killed", "--seed", "1", "--threads", "2", "--iterations", "70"}).code == 0);

  std::filesystem::remove(files.path("killed/summary.json"));
  std::filesystem::rename(files.path("train.libsvm"), files.path("moved.libsvm"));
  const Outcome missing = files.run({"resume", "killed"});
  CHECK(missing.code == 3);
  CHECK(contains(missing.err, "train.libsvm"));
  CHECK(files.run({"resume", "killed", "--train", "moved.libsvm"}).code == 0);

  std::filesystem::remove(files.path("killed/summary.json"));
  std::filesystem::remove(files.path("killed/chosen.adbo"));
  (void)files.write("train.libsvm", libsvm_rows(160, 6, 5));
  CHECK(contains(refusal({}), "contents of train: fnv1a64:"));
  // Before the first checkpoint as well.
  for (const auto& entry : std::filesystem::directory_iterator(files.path("killed"))) {
    if (entry.path().extension() == ".adbo") std::filesystem::remove(entry.path());
  }
  const std::string early = refusal({});
  CHECK(contains(early, "contents of train: fnv1a64:"));
  CHECK(contains(early, "when the run was begun"));
  CHECK(files.exists("killed/trace.csv"));

  CHECK(contains(files.run({"resume", "nowhere"}).err, "nowhere/run.json: cannot be read"));
  (void)files.write("killed/run.json", "{\"format\": 1}");
  CHECK(contains(refusal({}), "killed/run.json: not as adbo writes it"));
  CHECK(files.run({"resume"}).code == 2);
}

TEST_CASE("a recorded run is replayed bit for bit, the run with all validation rows too") {
  const Workspace files;
  Arguments arguments = cleaning(files, "recorded");
  arguments[std::find(arguments.begin(), arguments.end(), "virtual") - arguments.begin()] = "real";
  arguments[std::find(arguments.begin(), arguments.end(), "lognormal:3.5,1") - arguments.begin()] =
      "lognormal:-1,1";
  const Outcome recorded = files.run(arguments + Arguments{"--record"});
  INFO(recorded.err);
  REQUIRE(recorded.code == 0);
  REQUIRE(files.exists("recorded/arrivals.csv"));
  const auto replay = [&](const std::string& out, const Arguments& more) {
    Arguments again = arguments;
    *std::find(again.begin(), again.end(), "real") = "replay:recorded/arrivals.csv";
    again[std::find(again.begin(), again.end(), "recorded") - again.begin()] = out;
    return files.run(again + more);
  };
  const Outcome replayed = replay("replayed", {"--threads", "1"});
  INFO(replayed.err);
  REQUIRE(replayed.code == 0);
  for (const char* const name : {"upper.npy", "model.npy", "suspects.csv"}) {
    CHECK(files.read(std::string("recorded/") + name) == files.read(std::string("replayed/") + name));
  }

  const Outcome other = replay("other", {"--seed", "9"});
  CHECK(other.code == 2);
  CHECK(contains(other.err, "option seed: 1 when the run was recorded, 9 now"));
  const Outcome same_folder = replay("recorded", {});
  CHECK(same_folder.code == 2);
  CHECK(contains(same_folder.err, "the recording lies in the output folder"));
  CHECK(files.exists("recorded/arrivals.csv"));
  const std::string whole = files.read("recorded/arrivals.csv");
  const std::size_t mark = whole.rfind("# end ");
  REQUIRE(mark != whole.npos);
  (void)files.write("cut.csv", whole.substr(0, mark - 6));
  const auto replay_file = [&](const std::string& file) {
    Arguments again = arguments;
    *std::find(again.begin(), again.end(), "real") = "replay:" + file;
    again[std::find(again.begin(), again.end(), "recorded") - again.begin()] = "again";
    return files.run(again);
  };
  // A run ends where its recording does, and one that was cut short is not run again.
  const Outcome cut = replay_file("cut.csv");
  CHECK(cut.code == 0);
  CHECK(contains(cut.err, "cut.csv: the recording was cut short"));
  const Json stopped = Json::parse(files.read("again/summary.json"));
  CHECK(stopped["status"] == "stopped");
  CHECK_FALSE(stopped.contains("refit"));
  const std::string second = files.read("recorded/arrivals_refit.csv");
  for (const std::size_t kept : {second.size() - second.size() / 10, second.find("worker,seconds")}) {
    (void)files.write("two.csv", whole);
    (void)files.write("two_refit.csv", second.substr(0, second.find('\n', kept) + 1));
    const Outcome outcome = replay_file("two.csv");
    INFO(outcome.err);
    CHECK(outcome.code == 0);
    const Json summary = Json::parse(files.read("again/summary.json"));
    CHECK_FALSE(summary.contains("refit"));
    CHECK(summary["refit_cut_short"]["why"] == "the recording ends here");
  }
  std::filesystem::remove(files.path("two_refit.csv"));
  CHECK(replay_file("two.csv").code == 0);
  CHECK(contains(Json::parse(files.read("again/summary.json"))["refit_cut_short"]["why"].get<std::string>(),
                 "there is no two_refit.csv to follow"));
  // Each of the two runs has a recording of its own.
  (void)files.write("two.csv", second);
  const Outcome exchanged = replay_file("two.csv");
  CHECK(exchanged.code == 2);
  CHECK(contains(exchanged.err,
                 "validation rows in use: all when the run was recorded, all but those held out now"));
  (void)files.write("two.csv", whole);
  (void)files.write("two_refit.csv", whole);
  CHECK(replay_file("two.csv").code == 2);
  std::filesystem::remove(files.path("two_refit.csv"));

  // A second recording belongs to one first recording.
  Arguments another = arguments + Arguments{"--record"};
  *std::find(another.begin(), another.end(), "recorded") = "another";
  REQUIRE(files.run(another).code == 0);
  if (files.read("another/arrivals.csv") != whole && files.exists("another/arrivals_refit.csv")) {
    (void)files.write("two_refit.csv", files.read("another/arrivals_refit.csv"));
    const Outcome mixed = replay_file("two.csv");
    CHECK(mixed.code == 2);
    CHECK(contains(mixed.err, "recording of the first run"));
    std::filesystem::remove(files.path("two_refit.csv"));
  }

  const Outcome dropping = replay("other", {"--worker-failure", "drop"});
  CHECK(dropping.code == 2);
  CHECK(contains(dropping.err, "option worker_failure: fail when the run was recorded, drop now"));

  (void)files.write("recorded/arrivals.csv", whole.substr(0, mark) + "7;8\n" + whole.substr(mark));
  const Outcome broken = replay("other", {});
  CHECK(broken.code == 3);
  CHECK(contains(broken.err, "expected a worker, seconds that do not fall, and 0 or 1, found \"7;8\""));
  for (const std::string more : {"0,1e9,0\n", "0,1e9,0"}) {
    (void)files.write("recorded/arrivals.csv", whole + more);
    const Outcome longer = replay("other", {});
    CHECK(longer.code == 3);
    CHECK(contains(longer.err, "expected nothing after the line that ends a recording, found \"0,1e9,0\""));
  }
  // Any byte of what is recorded: of the facts, of an answer, of the mark itself.
  for (const std::size_t at : {std::size_t{4}, mark / 2, mark - 3, whole.size() - 2}) {
    CAPTURE(at);
    std::string flipped = whole;
    flipped[at] = flipped[at] == '1' ? '2' : '1';
    (void)files.write("recorded/arrivals.csv", flipped);
    const Outcome refused = replay("other", {});
    CHECK(refused.code == 3);
    CHECK(contains(refused.err, "recorded/arrivals.csv:"));
  }
  CHECK(files.run(cleaning(files, "no") + Arguments{"--record"}).code == 2);  // the virtual clock
}

TEST_CASE("workers that are late: exit code 5, or the run goes on without them") {
  const Workspace files;
  // Any computation that the master sees under way is late: with four threads and thousands of answers it
  // sees one.
  const Arguments hasty{"--worker-deadline", "1e-9", "--executor",         "threads",
                        "--threads",         "4",    "--checkpoint-every", "0"};
  const auto run = [&](const std::string& out, const Arguments& more) {
    Arguments arguments = cleaning(files, out, "20000");
    arguments.resize(arguments.size() - 2);  // checkpoints after every iteration
    return files.run(arguments + hasty + more);
  };
  // Not in every run, though: the machine may be so busy that the workers never compute while the master
  // looks.
  Outcome failed = run("late", {});
  for (int k = 0; k < 10 && failed.code == 0; ++k) failed = run("late", {});
  CHECK(failed.code == 5);
  CHECK(contains(failed.out, "no answer within"));
  CHECK(Json::parse(files.read("late/summary.json"))["status"] == "failed");

  const Outcome without = run("dropped", {"--worker-failure", "drop"});
  // How many are late when the master looks is a matter of the machine; without any worker the run fails.
  const std::size_t dropped =
      Json::parse(files.read("dropped/summary.json")).value("dropped_workers", Json::array()).size();
  CHECK(without.code == (dropped == 4 ? 5 : 0));

  // The run that failed goes on where failures are met otherwise, and only there.
  const Outcome left = files.run({"resume", "late"});
  CHECK(left.code == 5);
  CHECK(contains(left.err, "the run is over (failed"));
  REQUIRE(files.run({"resume", "late", "--worker-deadline", "100"}).code == 0);
  CHECK(Json::parse(files.read("late/summary.json"))["status"] == "iteration_limit");
}

TEST_CASE("resume of a run that is over: the exit code of its end") {
  const Workspace files;
  const std::string config = files.write("run.toml",
                                         "problem = \"quadratic\"\nmethod = \"adbo\"\nstep_lower_local = "
                                         "1e8\niterations = 500\nclock = \"virtual\"\n");
  CHECK(files.run({"run", config, "--out", "diverged"}).code == 4);
  CHECK(files.run({"resume", "diverged"}).code == 4);
  REQUIRE(files.run(cleaning(files, "over")).code == 0);
  CHECK(files.run({"resume", "over"}).code == 0);
  CHECK(files.run({"resume", "over", "--require-converged"}).code == 6);
}

TEST_CASE("a summary that adbo did not write is that of no run that is over") {
  const Workspace files;
  REQUIRE(files.run(cleaning(files, "over")).code == 0);
  const std::string upper = files.read("over/upper.npy");
  for (const char* const text :
       {"", "[]", "{\"status\": 3}", "{\"status\": \"failed\", \"iterations\": \"x\"}",
        "{\"status\": \"failed\", \"iterations\": 3, \"refit_cut_short\": 7}"}) {
    INFO(text);
    files.write("over/summary.json", text);
    CHECK(files.run({"resume", "over"}).code == 0);
    CHECK(Json::parse(files.read("over/summary.json"))["status"] == "iteration_limit");
    CHECK(files.read("over/upper.npy") == upper);
  }
}

TEST_CASE("resume: what has no effect any more is passed over, what is given has one") {
  const Workspace files;
  const auto limited = [&](const std::string& out, const Arguments& more) {
    const Outcome outcome =
        files.run(cleaning(files, out, "1000000000") + Arguments{"--time-limit", "0.3"} + more);
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
  };
  limited("threaded", {"--threads", "2", "--executor", "threads"});
  CHECK(files.run({"resume", "threaded", "--executor", "inline"}).code == 0);
  const Outcome refused = files.run({"resume", "threaded", "--executor", "inline", "--threads", "2"});
  CHECK(refused.code == 2);
  CHECK(contains(refused.err, "threads has no effect with executor = inline"));
  limited("delivered", {"--deliver", "weighted", "--measure-tolerance", "1e-3"});
  CHECK(files.run({"resume", "delivered", "--measure", "quick"}).code == 0);
}

TEST_CASE("a re-solve of resolve_every that a limit or a signal meets is made by the run that goes on") {
  const Workspace files;
  for (const std::string problem : {"clean", "tune"}) {
    CAPTURE(problem);
    const auto run = [&](const std::string& out) {
      Arguments arguments = without(run_settings(files, out, "150"), "--train") +
                            Arguments{"--train", files.write("many.libsvm", libsvm_rows(1500, 12, 1))};
      if (problem == "tune") arguments = without(arguments, "--corrupt");
      if (problem == "clean") arguments.insert(arguments.end(), {"--patience", "0"});
      return Arguments{problem} + arguments + Arguments{"--resolve-every",       "1",
                                                        "--measure-tolerance",   "1e-13",
                                                        "--measure-evaluations", "4000"};
    };
    const auto begin = std::chrono::steady_clock::now();
    REQUIRE(files.run(run("straight")).code == 0);
    const double part = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / 6;
    REQUIRE(files.run(run("limited") + Arguments{"--time-limit", std::to_string(part)}).code == 0);
    int slices = 1;
    for (; Json::parse(files.read("limited/summary.json"))["resumable"] == true && slices < 40; ++slices) {
      // Longer and longer: each is to come past where the one before ended.
      const std::string limit = std::to_string(part * (1 + 0.2 * slices));
      REQUIRE(files.run({"resume", "limited", "--time-limit", limit}).code == 0);
    }
    MESSAGE(problem << ": " << slices << " parts");
    CHECK(slices > 1);
    REQUIRE(files.run({"resume", "limited", "--time-limit", "0"}).code == 0);
    CHECK(deterministic_trace(files.read("straight/trace.csv")) ==
          deterministic_trace(files.read("limited/trace.csv")));
    CHECK(files.read("straight/upper.npy") == files.read("limited/upper.npy"));
    std::filesystem::remove_all(files.path("straight"));
    std::filesystem::remove_all(files.path("limited"));
  }
}

TEST_CASE("a folder belongs to one process at a time") {
  const Workspace files;
  REQUIRE(::mkfifo(files.path("slow").c_str(), 0600) == 0);
  const std::string held = files.path("held");
  std::filesystem::create_directory(held);
  const int folder = ::open(held.c_str(), O_RDONLY | O_DIRECTORY);
  REQUIRE(::flock(folder, LOCK_EX | LOCK_NB) == 0);
  const Outcome refused = files.run(cleaning(files, "held"));
  CHECK(refused.code == 2);
  CHECK(contains(refused.err, "another adbo is writing there"));
  ::close(folder);
  CHECK(files.run(cleaning(files, "held")).code == 0);
}

TEST_CASE("a trace that has lost its end goes on with whole lines") {
  const Workspace files;
  (void)kill_at(files, cleaning(files, "killed"), "killed/trace.csv", 20);
  std::filesystem::remove(files.path("killed/summary.json"));
  std::filesystem::remove(files.path("killed/chosen.adbo"));
  for (const std::size_t left : {std::size_t{1000}, std::size_t{100}, std::size_t{0}}) {
    INFO(left);
    std::filesystem::resize_file(files.path("killed/trace.csv"), left);
    const Outcome resumed = files.run({"resume", "killed"});
    INFO(resumed.err);
    CHECK(resumed.code == 0);
    CHECK(contains(resumed.err, "the missing ones are lost"));
    std::istringstream lines(files.read("killed/trace.csv"));
    std::string line;
    REQUIRE(std::getline(lines, line));
    CHECK(line.starts_with("iteration,"));
    const auto commas = std::count(line.begin(), line.end(), ',');
    while (std::getline(lines, line)) CHECK(std::count(line.begin(), line.end(), ',') == commas);
    CHECK(files.run({"report", "killed"}).code == 0);
    std::filesystem::remove(files.path("killed/summary.json"));
    std::filesystem::remove(files.path("killed/chosen.adbo"));
  }
}

TEST_CASE(
    "a trace with another byte than when the checkpoint was made is said to be changed, its lines kept") {
  const Workspace files;
  for (const bool is_second : {false, true}) {
    CAPTURE(is_second);
    const std::string followed = is_second ? "killed/trace_refit.csv" : "killed/trace.csv";
    std::filesystem::remove_all(files.path("killed"));
    if (!kill_at(files, cleaning(files, "killed", "1000"), followed, 20)) continue;
    std::string trace = files.read("killed/trace.csv");
    const std::size_t at = trace.find('.', trace.size() / 8) + 1;  // within the digits of a number
    trace[at] = trace[at] == '7' ? '8' : '7';
    files.write("killed/trace.csv", trace);
    const Outcome resumed = files.run({"resume", "killed", "--quiet"});
    INFO(resumed.err);
    CHECK(resumed.code == 0);
    CHECK(contains(resumed.err, "killed/trace.csv: was changed or damaged since the checkpoint was made"));
    CHECK(files.read("killed/trace.csv").substr(0, at + 1) == trace.substr(0, at + 1));
  }
}

TEST_CASE("unrolled cuts: an interruption within an update of the polytope loses nothing") {
  const Workspace files;
  // No checkpoints but those of interruptions.
  const Arguments arguments =
      without(without(cleaning(files, "sliced", "400"), "--checkpoint-every"), "--patience");
  const Arguments cuts{"--method", "sdbo", "--lower-rounds", "20", "--cut-interval", "2", "--holdout", "0"};
  std::int64_t last = -1;
  Outcome outcome = files.run(arguments + cuts + Arguments{"--time-limit", "0.3"});
  for (int k = 0; k < 40; ++k) {
    REQUIRE(outcome.code == 0);
    const Json summary = Json::parse(files.read("sliced/summary.json"));
    if (summary["status"] != "time_limit") break;
    CHECK(summary["resumable"] == true);
    CHECK(summary["iterations"].get<std::int64_t>() > last);
    last = summary["iterations"].get<std::int64_t>();
    outcome = files.run({"resume", "sliced"});
  }
}

TEST_CASE("limits that no clock can hold are as good as none") {
  const Workspace files;
  const Outcome outcome =
      files.run(cleaning(files, "long") + Arguments{"--time-limit", "1e300", "--worker-deadline", "1e300"});
  CHECK(outcome.code == 0);
  CHECK(Json::parse(files.read("long/summary.json"))["status"] == "iteration_limit");
}

TEST_CASE("a file that never ends does not hold a run with a limit of time") {
  const Workspace files;
  REQUIRE(::mkfifo(files.path("endless").c_str(), 0600) == 0);
  // The limit from where it can be known while the file is read.
  for (const Arguments& line : {Arguments{"clean", "--train", "endless", "--time-limit", "0.5"},
                                Arguments{"clean", "--config", "endless", "--time-limit", "0.5"},
                                Arguments{"run", "endless", "--set", "time_limit=0.5"}}) {
    const auto begin = std::chrono::steady_clock::now();
    const Outcome outcome = files.run(line + Arguments{"--out", "out"});
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    CHECK(outcome.code == 2);
    CHECK(contains(outcome.err, "time_limit is over before the problem was ready"));
    CHECK(passed.count() >= 0.5);
    CHECK_FALSE(files.exists("out"));
  }
}

TEST_CASE("a problem that takes long to make does not hold a run with a limit of time") {
  const Workspace files;
  std::string
      rows;  // few, with a million columns and ten classes: what is long is to make room for the models
  for (int row = 0; row < 40; ++row) rows += std::to_string(row % 10) + " 1:1 1000000:1\n";
  files.write("wide.libsvm", rows);
  const Outcome outcome = files.run({"clean", "--train", "wide.libsvm", "--holdout", "0", "--workers", "4",
                                     "--time-limit", "0.15", "--out", "out"});
  INFO(outcome.err);
  CHECK(outcome.code == 2);
  CHECK(contains(outcome.err, "time_limit is over before the problem was ready"));
  CHECK_FALSE(files.exists("out"));
  // A signal ends at once what has written nothing.
  const Outcome stopped = files.run_and_signal_after(
      {"clean", "--train", "wide.libsvm", "--holdout", "0", "--workers", "4", "--out", "out"}, SIGTERM, 0.15);
  CHECK(stopped.code == 143);
  CHECK_FALSE(contains(stopped.err, "stopp"));
  CHECK_FALSE(files.exists("out/summary.json"));
}

TEST_CASE("a run that its limit of time ends goes on to the same result") {
  const Workspace files;
  REQUIRE(files.run(cleaning(files, "straight", "1200")).code == 0);
  const Outcome limited = files.run(cleaning(files, "limited", "1200") + Arguments{"--time-limit", "0.5"});
  CHECK(limited.code == 0);
  const Json summary = Json::parse(files.read("limited/summary.json"));
  if (summary["status"] == "time_limit") {
    CHECK(summary["resumable"] == true);
    // No limit this time: 0.
    REQUIRE(files.run({"resume", "limited", "--time-limit", "0"}).code == 0);
  }
  CHECK(deterministic_trace(files.read("straight/trace.csv")) ==
        deterministic_trace(files.read("limited/trace.csv")));
  CHECK(files.read("straight/upper.npy") == files.read("limited/upper.npy"));
  CHECK(files.read("straight/suspects.csv") == files.read("limited/suspects.csv"));
}

TEST_CASE("the limit of time is that of the whole command, its measuring included") {
  const Workspace files;
  const auto begin = std::chrono::steady_clock::now();
  const Outcome outcome = files.run(cleaning(files, "quick", "100000000") + Arguments{"--time-limit", "0.5"});
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
  REQUIRE(outcome.code == 0);
  CHECK(passed.count() >= 0.5);
  CHECK(contains(outcome.out, "Nothing was trained again"));
  const Json summary = Json::parse(files.read("quick/summary.json"));
  CHECK(summary["status"] == "time_limit");
  CHECK_FALSE(summary["metrics"].contains("value_function"));
  CHECK_FALSE(summary["metrics"].contains("detection_auc_plain"));
  CHECK(summary["metrics"].contains("detection_auc"));
  CHECK(summary["metrics"]["test_accuracy_delivered"] == summary["metrics"]["test_accuracy_at_consensus"]);
  CHECK(line_count(files.read("quick/suspects.csv")) == 81);
}

TEST_CASE("a run that was judged quickly is judged in full by resume, without another iteration") {
  const Workspace files;
  for (const std::string problem : {"clean", "tune"}) {
    const auto run = [&](const std::string& out, const Arguments& more) {
      Arguments arguments{problem,
                          "--train",
                          files.write("train.libsvm", libsvm_rows(160, 6, 1)),
                          "--workers",
                          "4",
                          "--iterations",
                          "20",
                          "--clock",
                          "virtual",
                          "--checkpoint-every",
                          "5",
                          "--out",
                          out};
      if (problem == "clean") arguments.insert(arguments.end(), {"--corrupt", "0.2"});
      return files.run(arguments + more);
    };
    REQUIRE(run("full", {}).code == 0);
    REQUIRE(run("quick", {"--measure", "quick"}).code == 0);
    CHECK(files.read("full/upper.npy") == files.read("quick/upper.npy"));
    const Outcome over = files.run({"resume", "quick", "--json"});
    CHECK(over.code == 0);
    CHECK(contains(over.err, "the run is over"));
    CHECK(Json::parse(over.out) == Json::parse(files.read("quick/summary.json")));
    REQUIRE(files.run({"resume", "quick", "--measure", "full"}).code == 0);
    for (const char* const name : {"upper.npy", "model.npy"}) {
      CHECK(files.read(std::string("full/") + name) == files.read(std::string("quick/") + name));
    }
    const Json full = Json::parse(files.read("full/summary.json")),
               quick = Json::parse(files.read("quick/summary.json"));
    CHECK(full["metrics"] == quick["metrics"]);
    CHECK(full["iterations"] == quick["iterations"]);
  }
}

namespace {

Arguments comparing(const Workspace& files, const std::string& out) {
  return Arguments{"compare",  "--problem", "clean",    "--methods", "auto,soba,stocbio",
                   "--repeat", "2",         "--search", "4"} +
         run_settings(files, out, "60");
}

}  // namespace

TEST_CASE("resume of a comparison: what is over is kept, what is not goes on, and the tables are the same") {
  const Workspace files;
  REQUIRE(files.run(comparing(files, "straight")).code == 0);
  CHECK(files.read("straight/table.json") != "");

  // Within a candidate of the search, within a run, and within the last run.
  for (const std::string run : {"search/soba-2", "soba-1", "stocbio-2"}) {
    INFO(run);
    const std::string folder = "killed";
    std::filesystem::remove_all(files.path(folder));
    kill_at(files, comparing(files, folder), folder + "/" + run + "/trace.csv", 10);
    const bool was_within_run = is_within_first_run(files, folder + "/" + run);
    const std::string finished = files.read(folder + "/finished.jsonl");
    const Outcome resumed = files.run({"resume", folder});
    INFO(resumed.err);
    REQUIRE(resumed.code == 0);
    CHECK(adbo::test::comparison_difference_of(files, "straight", folder) == "");
    CHECK(files.read(folder + "/finished.jsonl").starts_with(finished.substr(0, finished.rfind('\n') + 1)));
    if (was_within_run) CHECK(contains(resumed.err, "going on from checkpoint"));
    CHECK(checkpoints(files, folder + "/" + run).empty());
  }

  const Outcome over = files.run({"resume", "killed", "--json"});
  CHECK(over.code == 0);
  CHECK(contains(over.err, "the comparison is over"));
  CHECK(Json::parse(over.out) == Json::parse(files.read("killed/table.json")));
}

TEST_CASE("resume of a comparison: lines that were cut, other data, other settings") {
  const Workspace files;
  const Arguments line = comparing(files, "result");
  REQUIRE(files.run(line).code == 0);
  const std::string finished = files.read("result/finished.jsonl");
  const std::string table = files.read("result/table.json");
  const auto kept_lines = [&finished](std::size_t count) {
    std::size_t end = 0;
    for (std::size_t k = 0; k < count; ++k) end = finished.find('\n', end) + 1;
    return finished.substr(0, end);
  };

  // All runs are found over but the last, whose line a killed process had begun.
  files.write("result/finished.jsonl", kept_lines(line_count(finished) - 2) + R"({"key":"stocbio-2","ru)");
  const Outcome again = files.run({"resume", "result"});
  INFO(again.err);
  CHECK(again.code == 0);
  CHECK(contains(again.err, "repeat 2 of 2: stocbio"));
  CHECK(deterministic_summary(files.read("result/table.json")) == deterministic_summary(table));

  const std::string unfinished = kept_lines(line_count(finished) - 2);
  files.write("result/finished.jsonl", unfinished);
  for (const Arguments& change : {Arguments{"--iterations", "70"}, {"--seed", "2"}, {"--out", "other"}}) {
    const Outcome refused = files.run(Arguments{"resume", "result"} + change);
    CHECK(refused.code == 2);
    CHECK(contains(refused.err, change.front()));
  }
  files.write("train.libsvm", libsvm_rows(160, 6, 3));
  const Outcome other_data = files.run({"resume", "result"});
  CHECK(other_data.code == 2);
  CHECK(contains(other_data.err, "a comparison goes on with the data it was begun with"));
  CHECK(files.read("result/finished.jsonl") == unfinished);  // nothing is touched
  files.write("result/finished.jsonl", kept_lines(2));       // nothing was over yet
  CHECK(
      contains(files.run({"resume", "result"}).err, "a comparison goes on with the data it was begun with"));
  CHECK(files.read("result/finished.jsonl") == kept_lines(2));
  files.write("result/finished.jsonl", unfinished);
  CHECK(files.exists("result/table.json"));
  files.write("train.libsvm", libsvm_rows(160, 6, 1));

  for (const std::string hostile :
       {"{}\n", "nonsense\n", "{\"format\":1,\"adbo\":\"99.0\"}\n", "{\"format\":2,\"adbo\":\"0.1.0\"}\n"}) {
    files.write("result/finished.jsonl", hostile);
    const Outcome refused = files.run({"resume", "result"});
    CHECK(refused.code == 2);
    CHECK(contains(refused.err, "finished.jsonl"));
  }
  files.write("result/finished.jsonl", kept_lines(1) + "{\"key\":\"auto-1\",\"runs\":[]}\n");
  CHECK(files.run({"resume", "result"}).code == 2);
}

TEST_CASE("resume of a comparison that is over writes tables again that are missing or were changed") {
  const Workspace files;
  REQUIRE(files.run(comparing(files, "over")).code == 0);
  for (const std::string name : {"table.md", "table.csv", "runs.csv", "table.json"}) {
    const std::string whole = files.read("over/" + name);
    std::string changed = whole;
    changed[changed.find_first_of("123456789", changed.size() / 2)] = '0';
    for (const std::optional<std::string>& there :
         {std::optional(changed), std::optional(whole.substr(0, whole.size() / 2)),
          std::optional(std::string()), std::optional<std::string>()}) {
      CAPTURE(name);
      std::filesystem::remove(files.path("over/" + name));
      if (there) files.write("over/" + name, *there);
      CHECK(files.run({"resume", "over"}).code == 0);
      CHECK(files.read("over/" + name) == whole);
    }
  }
  CHECK(contains(files.run({"resume", "over"}).err, "there is nothing to go on with"));
}

TEST_CASE("resume of a comparison that a signal stopped") {
  const Workspace files;
  REQUIRE(files.run(comparing(files, "straight")).code == 0);
  const Outcome stopped =
      files.run_and_signal(comparing(files, "stopped"), SIGINT, "stopped/soba-1/trace.csv", 5);
  INFO(stopped.err);
  CHECK(stopped.code == 130);
  CHECK(contains(stopped.err, "adbo resume stopped goes on with this comparison"));
  REQUIRE(files.run({"resume", "stopped"}).code == 0);
  CHECK(adbo::test::comparison_difference_of(files, "straight", "stopped") == "");
}

TEST_CASE("resume of a comparison: other settings in run.json, damaged lines, removed results") {
  const Workspace files;
  REQUIRE(files.run(comparing(files, "result")).code == 0);
  const std::string finished = files.read("result/finished.jsonl"), told = files.read("result/run.json");
  // As if it had been killed before its end was noted.
  const std::string whole = finished.substr(0, finished.rfind('\n', finished.size() - 2) + 1);
  files.write("result/finished.jsonl", whole);

  const auto with = [](std::string text, std::string_view piece, std::string_view other) {
    REQUIRE(text.find(piece) != std::string::npos);
    return text.replace(text.find(piece), piece.size(), other);
  };
  for (const auto& [piece, other, name] : {std::array{"lognormal:3.5,1", "lognormal:3.5,2", "delay of auto"},
                                           std::array{"\"60\"", "\"61\"", "iterations of auto"},
                                           std::array{"auto,soba,stocbio", "auto,soba,saba", "methods"}}) {
    files.write("result/run.json", with(told, piece, other));
    const Outcome refused = files.run({"resume", "result"});
    INFO(refused.err);
    CHECK(refused.code == 2);
    CHECK(contains(refused.err, name));
    CHECK(files.read("result/finished.jsonl") == whole);
  }
  files.write("result/run.json", told);

  for (const auto& [piece, other] :
       {std::array{"iteration_limit", "converged"}, std::array{"soba-1", "../../x"},
        std::array{"\"counts\":true", "\"counts\":null"}}) {
    files.write("result/finished.jsonl", with(whole, piece, other));
    const Outcome refused = files.run({"resume", "result"});
    INFO(refused.err);
    CHECK(refused.code == 2);
    CHECK(contains(refused.err, "damaged"));
  }
  files.write("result/finished.jsonl", whole);

  // Results that were removed are made again.
  const std::string upper = files.read("result/soba-1/upper.npy");
  std::filesystem::remove_all(files.path("result/soba-1"));
  REQUIRE(files.run({"resume", "result"}).code == 0);
  CHECK(files.read("result/soba-1/upper.npy") == upper);
}

TEST_CASE("resume of a comparison: a checkpoint of another run ends it, and nothing is lost") {
  const Workspace files;
  const bool was_killed = kill_at(files, comparing(files, "killed"), "killed/soba-1/trace.csv", 10);
  const std::vector<std::string> own = checkpoints(files, "killed/soba-1");
  if (!was_killed || !is_within_first_run(files, "killed/soba-1")) {
    MESSAGE("skipped: the first run was over before the signal");
    return;
  }
  const std::string finished = files.read("killed/finished.jsonl");
  REQUIRE(files
              .run({"clean", "--method", "soba", "--train", "train.libsvm", "--workers", "4", "--iterations",
                    "3", "--clock", "virtual", "--checkpoint-every", "1", "--out", "other"})
              .code == 0);
  const std::vector<std::string> others = checkpoints(files, "other");
  REQUIRE(!others.empty());
  const std::string image = files.read(own.back());
  files.write(own.back(), files.read(others.back()));
  const Outcome refused = files.run({"resume", "killed"});
  INFO(refused.err);
  CHECK(refused.code == 2);
  CHECK(contains(refused.err, "killed/soba-1: the run cannot be gone on with"));
  CHECK(files.read("killed/finished.jsonl") == finished);
  files.write(own.back(), image);
  REQUIRE(files.run({"resume", "killed"}).code == 0);
  REQUIRE(files.run(comparing(files, "straight")).code == 0);
  CHECK(adbo::test::comparison_difference_of(files, "straight", "killed") == "");
}

TEST_CASE("a resume that is refused leaves the results that there are") {
  const Workspace files;
  for (const std::string method : {"soba", "async-hypergradient"}) {
    const auto run = [&](const std::string& out, const Arguments& more) {
      return files.run(Arguments{"clean", "--method", method, "--holdout", "0"} +
                       without(run_settings(files, out, "1000000000"), "--checkpoint-every") + more);
    };
    REQUIRE(run("mine", {"--time-limit", "0.6"}).code == 0);
    REQUIRE(run("other", {"--time-limit", "0.6", "--seed", "9"}).code == 0);
    const std::string summary = files.read("mine/summary.json"), upper = files.read("mine/upper.npy"),
                      trace = files.read("mine/trace.csv");
    const std::vector<std::string> own = checkpoints(files, "mine"), others = checkpoints(files, "other");
    REQUIRE(!own.empty());
    REQUIRE(!others.empty());
    const std::string image = files.read(own.back());
    files.write(own.back(), files.read(others.back()));
    const Outcome refused = files.run({"resume", "mine"});
    INFO(refused.err);
    CHECK(refused.code == 2);
    CHECK(contains(refused.err, "cannot be gone on with"));
    CHECK(files.read("mine/summary.json") == summary);
    CHECK(files.read("mine/upper.npy") == upper);
    CHECK(files.read("mine/trace.csv") == trace);
    files.write(own.back(), image);
    CHECK(files
              .run({"resume", "mine", "--worker-failure", "drop", "--worker-retries", "1",
                    "--worker-deadline", "60"})
              .code == 0);
  }
}

TEST_CASE("a recording that cannot be followed leaves the folder's checkpoints alone") {
  const Workspace files;
  REQUIRE(kill_at(files, cleaning(files, "killed", "1000000"), "killed/trace.csv", 5));
  const std::vector<std::string> before = checkpoints(files, "killed");
  files.write("garbage.csv", "no recording\n");
  for (const std::string recording : {"missing.csv", "garbage.csv"}) {
    const Outcome refused = files.run({"clean", "--train", "train.libsvm", "--workers", "4", "--out",
                                       "killed", "--clock", "replay:" + recording});
    CHECK(refused.code != 0);
    CHECK(!contains(refused.err, "removed"));
    CHECK(checkpoints(files, "killed") == before);
  }
}

TEST_CASE("resume with more iterations where the second run was under way") {
  const Workspace files;
  REQUIRE(files.run(cleaning(files, "straight", "60")).code == 0);
  REQUIRE(files.exists("straight/trace_refit.csv"));
  // Killed or over, the run is to have more.
  kill_at(files, cleaning(files, "killed", "45"), "killed/upper.npy", 0);
  REQUIRE(files.run({"resume", "killed", "--iterations", "60"}).code == 0);
  CHECK(Json::parse(files.read("killed/summary.json"))["iterations"] == 60);
  for (const char* const name : {"upper.npy", "suspects.csv"})
    CHECK(files.read(std::string("killed/") + name) == files.read(std::string("straight/") + name));
}
