#pragma once
// arrivals.csv: the order of a run's answers, for --clock replay:FILE.

#include <string>
#include <vector>

#include "adbo/arrivals.h"
#include "adbo/identity.h"
#include "adbo/options.h"
#include "adbo/problem.h"
#include "io/growing_file.h"

namespace adbo::app {

/// What an order of arrivals depends on: Solver::identity(), and how failures are met, which a checkpoint
/// leaves open.
[[nodiscard]] Identity recording_identity(const Options& options, const Problem& problem);

/// Writes arrivals.csv as the run goes: `# name = value` for everything in recording_identity(), then a line
/// per answer. io::OutputError when the disk refuses.
class ArrivalFile final : public ArrivalRecorder {
 public:
  ArrivalFile(const std::string& path, const Identity& identity);
  void arrived(const Arrival& arrival) override;
  /// Marks the end with the checksum of all lines, flushes and closes.
  void finish();

 private:
  io::GrowingFile file_;
};

struct Recording {
  std::vector<Arrival> arrivals;
  bool is_whole = false;  ///< it has the mark of its end, with the checksum of what stands before
};
/// Reads what ArrivalFile writes. UsageError where it was recorded with something else, naming it with both
/// values; io::InputError with the line where it is no recording.
[[nodiscard]] Recording read_arrivals(const std::string& path, const Identity& identity);

}  // namespace adbo::app
