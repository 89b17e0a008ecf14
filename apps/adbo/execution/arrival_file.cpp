#include "execution/arrival_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "adbo/option_table.h"
#include "adbo/solver.h"
#include "io/byte_source.h"
#include "io/digest.h"
#include "io/error.h"
#include "io/text.h"
#include "support/exit_code.h"

namespace adbo::app {
namespace {

constexpr std::string_view kColumns = "worker,seconds,lost";
constexpr std::string_view kEnd = "# end ";

/// The last line, of a recording whose other lines have this digest.
std::string end_line(const io::Digest& digest) { return fmt::format("{}{}", kEnd, digest.text()); }

template <class Number>
bool take_number(std::string_view& text, Number& value) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  return true;
}

bool take_comma(std::string_view& text) {
  if (!text.starts_with(',')) return false;
  text.remove_prefix(1);
  return true;
}

bool parse_arrival(std::string_view line, Arrival& arrival) {
  int lost = 0;
  const bool is_read = take_number(line, arrival.worker) && take_comma(line) &&
                       take_number(line, arrival.seconds) && take_comma(line) && take_number(line, lost) &&
                       line.empty();
  arrival.is_lost = lost == 1;
  return is_read && (lost == 0 || lost == 1) && std::isfinite(arrival.seconds);
}

/// "# name = value": the value, which may have " = " in it, is all that follows the first one.
void take_fact(std::string_view line, Identity& facts) {
  line.remove_prefix(std::min<std::size_t>(2, line.size()));
  const std::size_t equals = line.find(" = ");
  if (equals != std::string_view::npos) facts.emplace_back(line.substr(0, equals), line.substr(equals + 3));
}

/// The second line of text begins a new one in the file: values are one line each.
std::string in_one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

/// As it stands in the file.
Identity in_lines(Identity identity) {
  for (auto& [name, value] : identity) {
    name = in_one_line(name);
    value = in_one_line(value);
  }
  return identity;
}

}  // namespace

Identity recording_identity(const Options& options, const Problem& problem) {
  Identity identity = Solver(options).identity(problem);
  for (const std::string_view name : {"worker_failure", "worker_retries"}) {
    identity.emplace_back(fmt::format("option {}", name), option_value(options, *find_option(name)));
  }
  return identity;
}

ArrivalFile::ArrivalFile(const std::string& path, const Identity& identity) : file_(path) {
  file_.begin();
  for (const auto& [name, value] : in_lines(identity)) file_.write(fmt::format("# {} = {}\n", name, value));
  file_.write(fmt::format("{}\n", kColumns));
  (void)file_.flushed();
}

void ArrivalFile::finish() {
  file_.write(end_line(file_.flushed().digest) + '\n');
  file_.finish();
}

void ArrivalFile::arrived(const Arrival& arrival) {
  file_.write(fmt::format("{},{},{}\n", arrival.worker, arrival.seconds, arrival.is_lost ? 1 : 0));
}

Recording read_arrivals(const std::string& path, const Identity& identity) {
  // One that is written while it is read may never end, and is read more than once.
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored)) {
    throw io::InputError(path, "is no plain file, which a recording has to be");
  }
  const std::string bytes = io::read_bytes(path);
  Identity recorded;
  Recording recording;
  double last = 0;
  bool has_columns = false;
  std::string_view text = bytes;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const auto refuse = [&, number](std::string_view expected) {
      const std::string token(line.substr(0, 40));
      throw io::InputError(path, number, 1, token,
                           fmt::format("expected {}, found {}", expected, io::detail::in_quotes(token)));
    };
    if (recording.is_whole) refuse("nothing after the line that ends a recording");
    // What a killed run had only begun to write.
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
    if (line.starts_with(kEnd)) {
      const std::string_view before(bytes.data(), line.data());
      const std::string expected = end_line(io::Digest().update(before));
      if (line != expected) {
        refuse(fmt::format("\"{}\" by the lines before it, which were changed or damaged", expected));
      }
      recording.is_whole = true;
    } else if (line.starts_with('#')) {
      take_fact(line, recorded);
    } else if (!has_columns) {
      has_columns = line == kColumns;
      if (!has_columns) refuse("the columns worker,seconds,lost of a recording");
    } else if (Arrival arrival; parse_arrival(line, arrival) && arrival.seconds >= last) {
      last = arrival.seconds;
      recording.arrivals.push_back(arrival);
    } else {
      refuse("a worker, seconds that do not fall, and 0 or 1");
    }
  }
  if (!has_columns) throw io::InputError(path, "no recording of arrivals");
  const std::string difference = first_difference(recorded, in_lines(identity), "when the run was recorded");
  if (!difference.empty()) throw UsageError(fmt::format("{}: {}", path, difference));
  return recording;
}

}  // namespace adbo::app
