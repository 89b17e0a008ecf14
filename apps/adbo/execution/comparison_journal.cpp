#include "execution/comparison_journal.h"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <system_error>
#include <utility>

#include "adbo/version.h"
#include "io/atomic_file.h"
#include "io/error.h"
#include "support/exit_code.h"

namespace adbo::app {
namespace {

constexpr std::string_view kRunFile = "run.json", kFinishedFile = "finished.jsonl";
constexpr int kFormat = 1;

/// JSON has no word for what is not finite.
Json number_json(double value) { return std::isfinite(value) ? Json(value) : Json(fmt::format("{}", value)); }
double number_of(const Json& json) {
  return json.is_string() ? std::strtod(json.get<std::string>().c_str(), nullptr) : json.get<double>();
}

Json finished_json(const ComparisonJournal::Finished& finished) {
  const ComparedRun& run = finished.run;
  Json values = Json::array();
  for (const auto& [name, value] : run.values) values.push_back({name, number_json(value)});
  return {{"row", finished.row},        {"repeat", run.repeat}, {"seed", run.seed},
          {"digest", run.digest},       {"folder", run.folder}, {"status", run.status},
          {"message", run.message},     {"note", run.note},     {"counts", run.counts},
          {"values", std::move(values)}};
}

ComparisonJournal::Finished finished_of(const Json& json) {
  ComparisonJournal::Finished finished{.row = json.at("row").get<std::string>(), .run = {}};
  ComparedRun& run = finished.run;
  run.repeat = json.at("repeat").get<std::size_t>();
  run.seed = json.at("seed").get<std::uint64_t>();
  run.digest = json.at("digest").get<std::string>();
  run.folder = json.at("folder").get<std::string>();
  run.status = json.at("status").get<std::string>();
  run.message = json.at("message").get<std::string>();
  run.note = json.at("note").get<std::string>();
  run.counts = json.at("counts").get<bool>();
  for (const Json& value : json.at("values")) {
    run.values.emplace_back(value.at(0).get<std::string>(), number_of(value.at(1)));
  }
  return finished;
}

std::string line_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string header_line() { return line_of({{"format", kFormat}, {"adbo", version()}}); }

void refuse_other_version(const Json& header, const std::string& path) {
  const int format = header.at("format").get<int>();
  const auto writer = header.at("adbo").get<std::string>();
  if (format == kFormat && writer == version()) return;
  throw UsageError(fmt::format("{}: format {} of adbo {}; this is adbo {} with format {}", path, format,
                               writer, version(), kFormat));
}

}  // namespace

ComparisonJournal ComparisonJournal::begun(const OutputFolder& folder, SavedRun run) {
  ComparisonJournal journal(folder);
  journal.run_text_ = saved_run_text(run);
  journal.lines_ = {header_line()};
  return journal;
}

ComparisonJournal ComparisonJournal::resumed(const OutputFolder& folder) {
  ComparisonJournal journal(folder);
  journal.is_resumed_ = true;
  journal.load();
  return journal;
}

std::string ComparisonJournal::path() const { return folder_.file(kFinishedFile); }

void ComparisonJournal::load() {
  std::ifstream file(path(), std::ios::binary);
  if (!file) {
    lines_ = {header_line()};  // it was killed before anything was over
    return;
  }
  const auto refuse_line = [this] {
    throw UsageError(fmt::format("{}:{}: not as adbo writes it", path(), lines_.size() + 1));
  };
  try {
    for (std::string line; std::getline(file, line) && !file.eof();) {
      const Json json = Json::parse(line);
      if (lines_.empty()) {
        refuse_other_version(json, path());
      } else if (json.contains("complete")) {
        is_complete_ = true;
      } else {
        std::vector<Finished> list;
        for (const Json& entry : json.at("runs")) list.push_back(finished_of(entry));
        if (list.empty()) refuse_line();
        finished_.insert_or_assign(json.at("key").get<std::string>(), std::move(list));
      }
      lines_.push_back(std::move(line));
    }
  } catch (const Json::exception&) {
    refuse_line();
  }
  if (lines_.empty()) lines_ = {header_line()};
}

void ComparisonJournal::open() {
  if (is_resumed_) {
    folder_.reopen();
  } else {
    folder_.create();
    io::write_file(folder_.file(kRunFile), run_text_);
  }
  std::string text;
  for (const std::string& line : lines_) text += line + '\n';
  io::write_file(path(), text);
}

void ComparisonJournal::refuse_other_data(std::uint64_t seed, std::string_view digest) const {
  for (const auto& [key, list] : finished_) {
    for (const Finished& finished : list) {
      if (finished.run.seed != seed || finished.run.digest == digest) continue;
      throw UsageError(fmt::format(
          "{}: {} was run on files, a split, a corruption and a start with the digest {}, which is "
          "now {}: a comparison goes on with the data it was begun with",
          path(), key, finished.run.digest, digest));
    }
  }
}

const std::vector<ComparisonJournal::Finished>* ComparisonJournal::find(std::string_view key) const {
  const auto found = finished_.find(key);
  return found == finished_.end() ? nullptr : &found->second;
}

void ComparisonJournal::keep(const std::string& key, std::vector<Finished> finished) {
  Json runs = Json::array();
  for (const Finished& entry : finished) runs.push_back(finished_json(entry));
  append(line_of({{"key", key}, {"runs", std::move(runs)}}));
  finished_.insert_or_assign(key, std::move(finished));
}

void ComparisonJournal::complete() {
  if (!is_complete_) append(line_of({{"complete", true}}));
  is_complete_ = true;
}

/// One write at the end of the file: a process that is killed leaves all of the line or a part without its
/// end.
void ComparisonJournal::append(const std::string& line) const {
  errno = 0;
  std::ofstream file(path(), std::ios::binary | std::ios::app);
  if (file << line << '\n' << std::flush) return;
  throw io::OutputError(path(), "cannot be written: " + std::generic_category().message(errno));
}

RunJournal ComparisonJournal::journal_of_run(std::string_view folder, const Console& console,
                                             CheckpointRule rule) const {
  return RunJournal::part(OutputFolder(folder_.file(folder)), console, rule, is_resumed_);
}

}  // namespace adbo::app
