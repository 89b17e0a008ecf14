#include "output/trace_csv.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <limits>

namespace adbo::app {
namespace {

constexpr std::string_view kHeader =
    "iteration,wall_seconds,virtual_seconds,upper_objective,lower_objective,lower_distance,stationarity_gap,"
    "test_accuracy,test_loss,held_out_loss,cuts,active,max_staleness,cpu_seconds,value_function,"
    "test_accuracy_retrained\n";

void append(std::string& line, double value) {
  if (std::isfinite(value)) fmt::format_to(std::back_inserter(line), "{}", value);
  line += ',';
}

std::string line_of(const TraceRecord& record, const std::optional<ModelScore>& test, double held_out_loss,
                    const std::optional<ResolvedMeasures>& resolved) {
  std::string line = fmt::format("{},", record.iteration);
  for (const double value : {record.wall_seconds, record.virtual_seconds, record.upper_objective,
                             record.lower_objective, record.lower_distance, record.stationarity_gap}) {
    append(line, value);
  }
  constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();
  append(line, test ? test->accuracy : kNotMeasured);
  append(line, test ? test->loss : kNotMeasured);
  append(line, held_out_loss);
  line += fmt::format("{},{},{},", record.cuts, record.active, record.max_staleness);
  append(line, record.cpu_seconds);
  append(line, resolved ? resolved->value_function : kNotMeasured);
  append(line, resolved && resolved->test_accuracy ? *resolved->test_accuracy : kNotMeasured);
  line.back() = '\n';
  return line;
}

}  // namespace

TraceCsv::TraceCsv(const std::string& path) : file_(path) {
  file_.begin();
  file_.write(kHeader);
}

io::Continuation TraceCsv::continue_at(const io::Extent& had) {
  const io::Continuation found = file_.continue_at(had);
  if (file_.flushed().bytes == 0) file_.write(kHeader);
  return found;
}

std::string continuation_text(const std::string& path, io::Continuation found) {
  switch (found) {
    case io::Continuation::kWhole:
      break;
    case io::Continuation::kShorter:
      return fmt::format("{}: has fewer lines than when the checkpoint was made; the missing ones are lost",
                         path);
    case io::Continuation::kChanged:
      return fmt::format(
          "{}: was changed or damaged since the checkpoint was made; its lines are kept, up to the length it "
          "had",
          path);
  }
  return {};
}

void TraceCsv::add(const TraceRecord& record, const std::optional<ModelScore>& test, double held_out_loss,
                   const std::optional<ResolvedMeasures>& resolved) {
  file_.write(line_of(record, test, held_out_loss, resolved));
}

}  // namespace adbo::app
