#include "execution/comparison_journal.h"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "adbo/version.h"
#include "io/atomic_file.h"
#include "io/byte_source.h"
#include "io/digest.h"
#include "io/error.h"
#include "output/comparison_table.h"
#include "settings/setting_table.h"
#include "support/exit_code.h"

namespace adbo::app {
namespace {

constexpr std::string_view kFinishedFile = "finished.jsonl";
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
  return {{"row", finished.row},    {"repeat", run.repeat},       {"seed", run.seed},
          {"digest", run.digest},   {"folder", run.folder},       {"status", run.status},
          {"message", run.message}, {"note", run.note},           {"dropped", run.dropped},
          {"counts", run.counts},   {"values", std::move(values)}};
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
  run.dropped = json.at("dropped").get<std::string>();
  run.counts = json.at("counts").get<bool>();
  for (const Json& value : json.at("values")) {
    run.values.emplace_back(value.at(0).get<std::string>(), number_of(value.at(1)));
  }
  return finished;
}

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string checksum_of(const Json& content) { return io::Digest().update(text_of(content)).text(); }

std::string line_of(const Json& content) {
  return text_of({{"checksum", checksum_of(content)}, {"content", content}});
}

/// Every value that what is over depends on, by method.
Json settings_json(const ComparisonRequest& request, const std::vector<ComparedMethod>& methods) {
  Json json{{"methods", request.methods}, {"repeat", request.repeat}, {"search", request.search}};
  for (const auto& [name, settings] : methods) {
    for (const SettingInfo& info : setting_table()) {
      if ((info.problems & settings.problem_mask()) == 0 || is_free_in_comparison(info.name)) continue;
      json[fmt::format("{} of {}", info.name, name)] = info.get(settings.config());
    }
  }
  return json;
}

}  // namespace

ComparisonJournal::ComparisonJournal(const OutputFolder& folder, const SavedRun& run,
                                     const std::vector<ComparedMethod>& methods)
    : folder_(folder) {
  header_ = {{"format", kFormat}, {"adbo", version()}, {"settings", settings_json(*run.comparison, methods)}};
}

ComparisonJournal ComparisonJournal::begun(const OutputFolder& folder, const SavedRun& run,
                                           const std::vector<ComparedMethod>& methods) {
  ComparisonJournal journal(folder, run, methods);
  journal.run_text_ = saved_run_text(run);
  journal.lines_ = {line_of(journal.header_)};
  return journal;
}

ComparisonJournal ComparisonJournal::resumed(const OutputFolder& folder, const SavedRun& run,
                                             const std::vector<ComparedMethod>& methods,
                                             const Console& console) {
  ComparisonJournal journal(folder, run, methods);
  journal.is_resumed_ = true;
  journal.load(console);
  if (journal.lines_.empty()) journal.lines_ = {line_of(journal.header_)};
  return journal;
}

void ComparisonJournal::refuse_other_header(const Json& header) const {
  const auto refuse = [this](std::string_view what, const Json& then, const Json& now) {
    throw UsageError(
        fmt::format("{}: {} was {} and is {} now: a comparison goes on with the settings and the version "
                    "it was begun with",
                    path(), what, text_of(then), text_of(now)));
  };
  for (const char* const name : {"format", "adbo"}) {
    if (header.at(name) != header_.at(name)) refuse(name, header.at(name), header_.at(name));
  }
  const Json &then = header.at("settings"), &now = header_.at("settings");
  for (const auto& [name, value] : then.items()) {
    const Json is = now.contains(name) ? now.at(name) : Json();
    if (is != value) refuse(name, value, is);
  }
  if (then.size() != now.size()) refuse("the number of settings", then.size(), now.size());
}

std::string ComparisonJournal::path() const { return folder_.file(kFinishedFile); }

void ComparisonJournal::load(const Console& console) {
  std::ifstream file(path(), std::ios::binary);
  if (!file) {
    console.warning(fmt::format("{}: is not there; the comparison begins at its start", path()));
    return;
  }
  try {
    for (std::string line; std::getline(file, line) && !file.eof();) {
      const Json json = Json::parse(line);
      const Json& content = json.at("content");
      if (json.at("checksum") != checksum_of(content)) {
        throw UsageError(
            fmt::format("{}:{}: damaged: its checksum does not fit (without this line, what it speaks of "
                        "is run again)",
                        path(), lines_.size() + 1));
      }
      take(content);
      lines_.push_back(std::move(line));
    }
  } catch (const Json::exception&) {
    throw UsageError(fmt::format("{}:{}: not as adbo writes it", path(), lines_.size() + 1));
  }
}

/// What a whole line says; the first one is the header.
void ComparisonJournal::take(const Json& content) {
  if (lines_.empty()) {
    refuse_other_header(content);
  } else if (content.contains("complete")) {
    completed_.emplace(content.at("complete").is_string() ? content.at("complete").get<std::string>() : "");
  } else if (content.contains("seed")) {
    data_.emplace(content.at("seed").get<std::uint64_t>(), content.at("digest").get<std::string>());
  } else {
    std::vector<Finished> list;
    for (const Json& entry : content.at("runs")) list.push_back(finished_of(entry));
    if (!list.empty()) finished_.insert_or_assign(content.at("key").get<std::string>(), std::move(list));
  }
}

namespace {

/// Of all of them as they stand in the folder.
std::string digest_of_tables(const OutputFolder& folder) {
  io::Digest digest;
  for (const std::string_view name : kComparisonTables) {
    std::error_code ignored;
    const std::string path = folder.file(name);
    digest.update(name);
    if (!std::filesystem::is_regular_file(path, ignored)) continue;  // nothing is waited for in its place
    try {
      digest.update(io::read_bytes(path));
    } catch (const io::InputError&) {
      // Empty, or not to be read: not as it was.
    }
  }
  return digest.text();
}

}  // namespace

void ComparisonJournal::open() {
  if (is_resumed_) {
    folder_.reopen();
    folder_.remove_results();
  } else {
    folder_.create();
    io::write_file(folder_.file(kSavedRunFile), run_text_);
  }
  std::string text;
  for (const std::string& line : lines_) text += line + '\n';
  io::write_file(path(), text);
}

void ComparisonJournal::refuse_other_data(std::uint64_t seed, std::string_view digest) const {
  const auto found = data_.find(seed);
  if (found == data_.end() || found->second == digest) return;
  throw UsageError(fmt::format(
      "{}: seed {} stood for files, a split, a corruption and a start with the digest {}, which is "
      "now {}: a comparison goes on with the data it was begun with",
      path(), seed, found->second, digest));
}

void ComparisonJournal::keep_data(std::uint64_t seed, const std::string& digest) {
  if (data_.emplace(seed, digest).second) append(line_of({{"seed", seed}, {"digest", digest}}));
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
  std::string tables = digest_of_tables(folder_);
  if (completed_ == tables) return;
  append(line_of({{"complete", tables}}));
  completed_ = std::move(tables);
}

bool ComparisonJournal::is_complete() const { return completed_ == digest_of_tables(folder_); }

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
