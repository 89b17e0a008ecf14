#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "adbo/problems/hyper_cleaning.h"
#include "adbo/summary.h"
#include "execution/periodic_resolve.h"
#include "io/growing_file.h"

namespace adbo::app {

/// trace.csv, written as the run goes: a killed run leaves all but its last second. A value that was not
/// measured is an empty cell. io::OutputError when the disk refuses.
class TraceCsv {
 public:
  /// A new file, in place of an old one.
  explicit TraceCsv(const std::string& path);
  /// A file that is to be gone on with: continue_at() has to follow.
  struct Continued {};
  TraceCsv(const std::string& path, Continued) : file_(path) {}
  /// Cuts the file to the length that it `had` when a checkpoint was made.
  [[nodiscard]] io::Continuation continue_at(const io::Extent& had);
  /// What has been written so far, all of it handed to the system.
  [[nodiscard]] io::Extent flushed() { return file_.flushed(); }

  /// A held-out loss that is not a number was not measured.
  void add(const TraceRecord& record, const std::optional<ModelScore>& test, double held_out_loss,
           const std::optional<ResolvedMeasures>& resolved);
  /// Flushes and closes.
  void finish() { file_.finish(); }

 private:
  io::GrowingFile file_;
};

/// What is to be said of a trace by its continue_at(); empty where there is nothing.
[[nodiscard]] std::string continuation_text(const std::string& path, io::Continuation found);

}  // namespace adbo::app
