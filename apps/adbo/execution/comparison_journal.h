#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "execution/run_journal.h"
#include "output/comparison_table.h"
#include "output/output_folder.h"
#include "settings/saved_run.h"
#include "support/console.h"

namespace adbo::app {

/// What a comparison keeps in its folder so that it can be gone on with: what it was told (run.json), and a
/// line of finished.jsonl for whatever of it is over. What is not over keeps the checkpoints of a run.
class ComparisonJournal {
 public:
  /// A run, or a baseline, with the row of the table it goes into.
  struct Finished {
    std::string row;
    ComparedRun run;
  };

  /// A comparison that begins.
  static ComparisonJournal begun(const OutputFolder& folder, const SavedRun& run,
                                 const std::vector<ComparedMethod>& methods);
  /// One that goes on. UsageError naming the file, where a line is damaged, it is another version's, or what
  /// is over was run with other settings than those of the methods; a last line that a killed process had
  /// begun counts as not there.
  static ComparisonJournal resumed(const OutputFolder& folder, const SavedRun& run,
                                   const std::vector<ComparedMethod>& methods, const Console& console);

  /// Makes the folder and empties it of other results, or leaves in it what the comparison goes on with.
  void open();

  /// UsageError where what this seed stands for was another split, corruption or start.
  void refuse_other_data(std::uint64_t seed, std::string_view digest) const;
  /// Before anything is run with this seed.
  void keep_data(std::uint64_t seed, const std::string& digest);
  /// What came of `key` if it is over: one run of a method, or all baselines of a repeat.
  [[nodiscard]] const std::vector<Finished>* find(std::string_view key) const;
  /// io::OutputError when the disk refuses.
  void keep(const std::string& key, std::vector<Finished> finished);
  /// There is nothing to go on with any more.
  void complete();

  /// Whether it is over and its tables are those that were written then.
  [[nodiscard]] bool is_complete() const;
  [[nodiscard]] const OutputFolder& folder() const { return folder_; }
  /// Of a run in a folder within this one.
  [[nodiscard]] RunJournal journal_of_run(std::string_view folder, const Console& console,
                                          CheckpointRule rule) const;

 private:
  ComparisonJournal(const OutputFolder& folder, const SavedRun& run,
                    const std::vector<ComparedMethod>& methods);
  [[nodiscard]] std::string path() const;
  void load(const Console& console);
  void take(const Json& content);
  void refuse_other_header(const Json& header) const;
  void append(const std::string& line) const;

  OutputFolder folder_;
  std::string run_text_;  ///< of run.json; empty: it is there
  Json header_;           ///< version and settings
  std::map<std::string, std::vector<Finished>, std::less<>> finished_;
  std::map<std::uint64_t, std::string> data_;  ///< digests, by seed
  std::vector<std::string> lines_;             ///< of the file, as far as they are whole
  bool is_resumed_ = false;
  std::optional<std::string> completed_;  ///< the digest of its tables when it was over
};

}  // namespace adbo::app
