#include "io/csv.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <deque>
#include <optional>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "io/byte_source.h"
#include "io/digest.h"
#include "io/error.h"
#include "io/labels.h"
#include "io/text.h"

namespace adbo::io {
namespace {

using detail::in_quotes;
using detail::is_digit;
using detail::NumberError;
using detail::Text;

/// Stands for runs of blanks and tabs.
constexpr char kBlanks = ' ';

bool is_line_end(char c) { return c == '\n' || c == '\r'; }

/// One field of a record.
struct Cell {
  std::string_view text;     // without quotes and surrounding blanks
  const char* at = nullptr;  // where it begins in the file
};

/// Cuts the text into records. A record is a line, or several when line breaks stand in quotes; empty lines
/// are none.
class RecordReader {
 public:
  RecordReader(const Text& text, char separator) : text_(text), separator_(separator), next_(text.begin()) {}

  /// The next record's cells, valid until the next call; false at the end of the text.
  bool read(std::vector<Cell>& cells) {
    cells.clear();
    unescaped_.clear();
    skip_empty_lines();
    if (next_ == text_.end()) return false;
    record_begin_ = next_;
    while (read_cell(cells)) {
    }
    return true;
  }

  [[nodiscard]] const char* record_begin() const { return record_begin_; }
  /// One past the last byte of the record, line end excluded.
  [[nodiscard]] const char* record_end() const { return next_; }

 private:
  [[nodiscard]] bool is_padding(char c) const { return (c == ' ' || c == '\t') && c != separator_; }
  [[nodiscard]] bool is_separator(char c) const {
    return separator_ == kBlanks ? c == ' ' || c == '\t' : c == separator_;
  }
  [[nodiscard]] bool at_line_end() const { return next_ == text_.end() || is_line_end(*next_); }

  void skip_empty_lines() {
    for (;;) {
      const char* line = next_;
      while (!at_line_end() && (is_padding(*next_) || (separator_ == kBlanks && is_separator(*next_))))
        ++next_;
      if (next_ == text_.end()) return;
      if (!is_line_end(*next_)) {
        // Leading blanks belong to the record unless they separate its fields.
        if (separator_ != kBlanks) next_ = line;
        return;
      }
      ++next_;
    }
  }

  /// Reads one cell and the separator behind it; false after the last cell of the record.
  bool read_cell(std::vector<Cell>& cells) {
    while (!at_line_end() && is_padding(*next_)) ++next_;
    if (!at_line_end() && *next_ == '"') {
      cells.push_back(read_quoted());
    } else {
      cells.push_back(read_plain());
    }
    if (at_line_end()) return false;
    ++next_;
    if (separator_ != kBlanks) return true;
    while (!at_line_end() && is_separator(*next_)) ++next_;
    return !at_line_end();
  }

  Cell read_plain() {
    const char* begin = next_;
    while (!at_line_end() && !is_separator(*next_)) ++next_;
    const char* end = next_;
    while (end != begin && is_padding(end[-1])) --end;
    return {{begin, end}, begin};
  }

  Cell read_quoted() {
    const char* opening = next_++;
    const char* begin = next_;
    bool doubled = false;
    for (;; ++next_) {
      if (next_ == text_.end()) text_.fail(opening, {}, "this quote is never closed");
      if (*next_ != '"') continue;
      if (next_ + 1 == text_.end() || next_[1] != '"') break;
      doubled = true;
      ++next_;
    }
    const std::string_view inside(begin, next_++);
    while (!at_line_end() && is_padding(*next_)) ++next_;
    if (!at_line_end() && !is_separator(*next_)) {
      text_.fail(
          next_, {next_, 1},
          fmt::format("expected a separator after the closing quote, found {}", in_quotes({next_, 1})));
    }
    return {doubled ? unescape(inside) : inside, opening};
  }

  std::string_view unescape(std::string_view inside) {
    std::string& plain = unescaped_.emplace_back();
    for (std::size_t k = 0; k < inside.size(); ++k) {
      plain += inside[k];
      if (inside[k] == '"') ++k;  // the second quote of a pair
    }
    return plain;
  }

  const Text& text_;
  char separator_;
  const char* next_;
  const char* record_begin_ = nullptr;
  std::deque<std::string> unescaped_;  // stable addresses
};

/// How often each candidate occurs outside quotes in the first lines.
class SeparatorDetector {
 public:
  explicit SeparatorDetector(const Text& text) {
    std::array<std::size_t, kCandidates.size()> counts{};
    bool in_quotes = false;
    bool empty = true;
    const auto end_line = [&] {
      if (!empty) lines_.push_back(counts);
      counts = {};
      empty = true;
    };
    for (const char* p = text.begin(); p != text.end() && lines_.size() < kLines; ++p) {
      if (*p == '"') in_quotes = !in_quotes;
      if (in_quotes) continue;
      if (is_line_end(*p)) {
        end_line();
        continue;
      }
      if (*p != ' ' && *p != '\t') empty = false;
      const auto* hit = std::find(kCandidates.begin(), kCandidates.end(), *p);
      if (hit != kCandidates.end()) ++counts[static_cast<std::size_t>(hit - kCandidates.begin())];
    }
    end_line();
  }

  [[nodiscard]] char separator() const {
    if (lines_.empty()) return ',';
    // The same number of times in every line: that is how separators behave. A semicolon before a comma, for
    // where semicolons separate, commas may be decimal points.
    for (std::size_t c = 0; c < kCandidates.size(); ++c) {
      const std::size_t count = lines_.front()[c];
      const bool steady =
          std::all_of(lines_.begin(), lines_.end(), [&](const auto& line) { return line[c] == count; });
      if (count > 0 && steady) return kCandidates[c];
    }
    // A ragged file, to be refused later with its place: the most frequent one of the first line.
    const auto& first = lines_.front();
    const auto* most = std::max_element(first.begin(), first.end());
    return *most > 0 ? kCandidates[static_cast<std::size_t>(most - first.begin())] : kBlanks;
  }

 private:
  static constexpr std::array<char, 3> kCandidates = {'\t', ';', ','};
  static constexpr std::size_t kLines = 20;
  std::vector<std::array<std::size_t, kCandidates.size()>> lines_;
};

const char* separator_name(char separator) {
  switch (separator) {
    case '\t':
      return "tabs";
    case ';':
      return "semicolons";
    case ',':
      return "commas";
    default:
      return "blanks";
  }
}

bool is_number(std::string_view text) {
  double value = 0;
  return detail::parse_number(text, value) != NumberError::kNotANumber;
}

/// Digits, a comma, digits.
bool has_decimal_comma(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  const std::size_t comma = text.find(',');
  if (comma == text.npos || comma == 0 || comma + 1 == text.size()) return false;
  const auto digits = [](std::string_view part) { return std::all_of(part.begin(), part.end(), is_digit); };
  return digits(text.substr(0, comma)) && is_digit(text[comma + 1]);
}

class CsvParser {
 public:
  CsvParser(std::string_view text, const std::string& source, const CsvOptions& options)
      : text_(detail::without_byte_order_mark(text), source),
        options_(options),
        separator_(SeparatorDetector(text_).separator()),
        reader_(text_, separator_) {}

  Table run() {
    std::vector<Cell> cells;
    if (!reader_.read(cells)) text_.fail("holds no rows: every line is empty");
    fields_ = cells.size();
    first_record_ = reader_.record_begin();
    const bool has_header = decide_header(cells);
    if (has_header) {
      for (const Cell& cell : cells) header_.emplace_back(cell.text);
      table_.notes.emplace_back("the first line is taken as the header");
    }
    label_field_ = resolve_label_column();
    if (!options_.id_column.empty()) id_field_ = resolve(options_.id_column, "id column");
    if (label_field_ && label_field_ == id_field_) {
      text_.fail(fmt::format("{} is both the label column and the id column", field_name(*label_field_)));
    }
    columns_ = fields_ - (label_field_ ? 1 : 0) - (id_field_ ? 1 : 0);
    if (columns_ == 0) {
      text_.fail(first_record_, {},
                 fmt::format("expected features besides the label{}, found {} field(s) separated by {}",
                             id_field_ ? " and the id" : "", fields_, separator_name(separator_)));
    }
    reserve();
    if (!has_header) add_row(cells);
    while (reader_.read(cells)) add_row(cells);
    if (rows_ == 0) text_.fail("holds a header but no rows");
    return finish();
  }

 private:
  /// `field 5 ("age")`
  [[nodiscard]] std::string field_name(std::size_t field) const {
    if (header_.empty()) return fmt::format("field {}", field + 1);
    return fmt::format("field {} ({})", field + 1, in_quotes(header_[field]));
  }

  bool decide_header(const std::vector<Cell>& first) const {
    if (options_.header != HeaderMode::kAuto) return options_.header == HeaderMode::kPresent;
    RecordReader ahead(text_, separator_);
    std::vector<Cell> second;
    ahead.read(second);
    // A number with a decimal comma is a value too, and is refused as one.
    const auto numeric = [](const Cell& cell) {
      return is_number(cell.text) || has_decimal_comma(cell.text);
    };
    const auto word = [&](const Cell& cell) { return !numeric(cell) && !detail::means_missing(cell.text); };
    // A line of words alone is no row either.
    if (!ahead.read(second)) return std::all_of(first.begin(), first.end(), word);
    // A header shows where a word stands above a number.
    const Cell* above = nullptr;
    const Cell* below = nullptr;
    for (std::size_t k = 0; k < std::min(first.size(), second.size()); ++k) {
      if (above != nullptr || !word(first[k]) || !numeric(second[k])) continue;
      above = &first[k];
      below = &second[k];
    }
    if (above == nullptr) return false;
    if (std::none_of(first.begin(), first.end(), numeric)) return true;
    // A damaged first row must not be taken for a header: it would vanish without a word.
    text_.fail(
        above->at, above->text,
        fmt::format("is the first line a header? {} is no number but {} below it is, and other fields of the "
                    "line are numbers: say whether there is a header, or mend the field",
                    in_quotes(above->text), in_quotes(below->text)));
  }

  std::optional<std::size_t> resolve_label_column() const {
    if (options_.label_column.empty()) return fields_ - 1;
    if (options_.label_column == "none") return std::nullopt;
    return resolve(options_.label_column, "label column");
  }

  /// The field that a name or a position (1 the first, -1 the last) stands for.
  [[nodiscard]] std::size_t resolve(const std::string& column, const char* role) const {
    const auto named = std::count(header_.begin(), header_.end(), column);
    if (named > 1)
      text_.fail(
          fmt::format("{} {}: {} fields of the header have this name", role, in_quotes(column), named));
    if (named == 1) {
      return static_cast<std::size_t>(std::find(header_.begin(), header_.end(), column) - header_.begin());
    }
    std::int64_t position = 0;
    const auto [end, error] = std::from_chars(column.data(), column.data() + column.size(), position);
    if (error != std::errc{} || end != column.data() + column.size()) fail_unknown_column(column, role);
    const auto count = static_cast<std::int64_t>(fields_);
    if (position == 0 || position > count || position < -count) {
      text_.fail(fmt::format("{} {}: expected 1 to {} or -1 (the last) to -{}", role, column, count, count));
    }
    return static_cast<std::size_t>(position > 0 ? position - 1 : position + count);
  }

  [[noreturn]] void fail_unknown_column(const std::string& column, const char* role) const {
    constexpr std::size_t kMostNames = 20;
    if (header_.empty()) {
      text_.fail(fmt::format(
          "{} {}: the file has no header, so a position is expected (1 is the first field, -1 the "
          "last)",
          role, in_quotes(column)));
    }
    std::string names;
    for (std::size_t k = 0; k < std::min(header_.size(), kMostNames); ++k) {
      names += (k == 0 ? "" : ", ") + in_quotes(header_[k]);
    }
    text_.fail(fmt::format("{} {}: no such name in the header, which has {}{}", role, in_quotes(column),
                           names, header_.size() > kMostNames ? ", ..." : ""));
  }

  /// From the length of the first record; never more than the text can hold (a cell takes two bytes with its
  /// separator).
  void reserve() {
    const auto record_bytes = static_cast<std::size_t>(reader_.record_end() - first_record_) + 1;
    const std::size_t rows = text_.bytes().size() / record_bytes + 1;
    values_.reserve(std::min(rows * columns_, text_.bytes().size() / 2 + 1));
  }

  void add_row(const std::vector<Cell>& cells) {
    if (cells.size() != fields_) fail_ragged(cells);
    for (std::size_t field = 0; field < fields_; ++field) {
      const Cell& cell = cells[field];
      if (field == label_field_) {
        if (detail::means_missing(cell.text)) fail_missing(cell, field, "label");
        labels_.push_back(classes_.number_of(cell.text));
      } else if (field == id_field_) {
        if (cell.text.empty()) fail_missing(cell, field, "id");
        table_.ids.emplace_back(cell.text);
      } else {
        values_.push_back(feature(cell, field));
      }
    }
    ++rows_;
  }

  [[nodiscard]] float feature(const Cell& cell, std::size_t field) const {
    float value = 0;
    const NumberError error = detail::parse_number(cell.text, value);
    if (error == NumberError::kNone) return value;
    if (detail::means_missing(cell.text)) fail_missing(cell, field, "value");
    std::string message = explain(error, "in " + field_name(field), cell.text);
    if (has_decimal_comma(cell.text)) message += "; write a decimal point, not a comma";
    text_.fail(cell.at, cell.text, message);
  }

  [[noreturn]] void fail_missing(const Cell& cell, std::size_t field, const char* what) const {
    text_.fail(cell.at, cell.text,
               cell.text.empty() ? fmt::format("missing {} in {}", what, field_name(field))
                                 : fmt::format("missing {} in {}: found {}", what, field_name(field),
                                               in_quotes(cell.text)));
  }

  [[noreturn]] void fail_ragged(const std::vector<Cell>& cells) const {
    const bool too_many = cells.size() > fields_;
    const char* at = too_many ? cells[fields_].at : reader_.record_end();
    text_.fail(at, too_many ? cells[fields_].text : std::string_view(),
               fmt::format("expected {} fields separated by {} as in line {}, found {}", fields_,
                           separator_name(separator_), text_.line_of(first_record_), cells.size()));
  }

  Table finish() {
    kernels::DenseRows dense(rows_, columns_);
    for (std::size_t r = 0; r < rows_; ++r)
      std::copy_n(values_.data() + r * columns_, columns_, dense.mutable_row(r));
    table_.features = std::move(dense);
    table_.format = "csv";
    table_.source = text_.source();
    if (label_field_) set_labels(table_, classes_, std::move(labels_));
    for (std::size_t field = 0; field < header_.size(); ++field) {
      if (field != label_field_ && field != id_field_) table_.feature_names.push_back(header_[field]);
    }
    table_.notes.push_back(fmt::format("fields are separated by {}", separator_name(separator_)));
    note_repeated_ids();
    return std::move(table_);
  }

  void note_repeated_ids() {
    std::vector<std::string_view> sorted(table_.ids.begin(), table_.ids.end());
    std::sort(sorted.begin(), sorted.end());
    const auto repeated = std::adjacent_find(sorted.begin(), sorted.end());
    if (repeated != sorted.end()) {
      table_.notes.push_back(
          fmt::format("ids are not unique: {} occurs more than once", in_quotes(*repeated)));
    }
  }

  Text text_;
  const CsvOptions& options_;
  char separator_;
  RecordReader reader_;
  std::size_t fields_ = 0;   // of every record
  std::size_t columns_ = 0;  // features among them
  const char* first_record_ = nullptr;
  std::vector<std::string> header_;
  std::optional<std::size_t> label_field_, id_field_;
  std::size_t rows_ = 0;
  std::vector<float> values_;  // [rows x columns]
  std::vector<std::int32_t> labels_;
  detail::LabelTable classes_;
  Table table_;
};

}  // namespace

Table read_csv(const std::string& path, const CsvOptions& options) {
  return parse_csv(read_bytes(path), path, options);
}

Table parse_csv(std::string_view text, const std::string& source, const CsvOptions& options) {
  Table table = CsvParser(text, source, options).run();
  table.digest = Digest().update(text).text();
  return table;
}

}  // namespace adbo::io
