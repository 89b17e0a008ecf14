#pragma once

#include <chrono>
#include <fstream>
#include <optional>
#include <string>

#include "adbo/problems/hyper_cleaning.h"
#include "adbo/summary.h"
#include "execution/periodic_resolve.h"

namespace adbo::app {

/// trace.csv, written as the run goes: a killed run leaves all but its last second. A value that was not
/// measured is an empty cell. io::OutputError when the disk refuses.
class TraceCsv {
 public:
  explicit TraceCsv(const std::string& path);

  /// A held-out loss that is not a number was not measured.
  void add(const TraceRecord& record, const std::optional<ModelScore>& test, double held_out_loss,
           const std::optional<ResolvedMeasures>& resolved);
  /// Flushes and closes.
  void finish();

 private:
  void check() const;

  std::string path_;
  std::ofstream file_;
  std::chrono::steady_clock::time_point last_flush_;
};

}  // namespace adbo::app
