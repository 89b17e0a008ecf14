#include "output/trace_csv.h"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <limits>
#include <system_error>

#include "io/error.h"

namespace adbo::app {
namespace {

constexpr std::chrono::seconds kFlushInterval{1};
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

TraceCsv::TraceCsv(const std::string& path) : path_(path), file_(path, std::ios::binary | std::ios::trunc) {
  file_ << kHeader;
  check();
}

bool TraceCsv::continue_at(std::uint64_t bytes) {
  std::error_code error;
  const std::uint64_t there = std::filesystem::file_size(path_, error);
  const bool is_whole = !error && there >= bytes;
  if (is_whole) std::filesystem::resize_file(path_, bytes, error);
  file_.open(path_, std::ios::binary | std::ios::app);
  if (file_.tellp() == std::streampos(0)) file_ << kHeader;
  check();
  return is_whole && !error;
}

std::uint64_t TraceCsv::flushed_bytes() {
  file_.flush();
  check();
  return static_cast<std::uint64_t>(file_.tellp());
}

void TraceCsv::add(const TraceRecord& record, const std::optional<ModelScore>& test, double held_out_loss,
                   const std::optional<ResolvedMeasures>& resolved) {
  file_ << line_of(record, test, held_out_loss, resolved);
  const auto now = std::chrono::steady_clock::now();
  if (now - last_flush_ >= kFlushInterval) {
    last_flush_ = now;
    file_.flush();
  }
  check();
}

void TraceCsv::finish() {
  file_.close();
  check();
}

void TraceCsv::check() const {
  if (file_) return;
  const int reason = errno;  // of the write that failed: nothing came between
  throw io::OutputError(path_, reason == 0 ? "cannot be written"
                                           : "cannot be written: " + std::generic_category().message(reason));
}

}  // namespace adbo::app
