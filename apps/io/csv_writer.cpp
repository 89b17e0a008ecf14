#include "io/csv_writer.h"

#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace adbo::io {
namespace {

constexpr std::size_t kFlushBytes = std::size_t{1} << 16;

/// Besides RFC 4180's own cases: blanks at the ends (some readers trim them), and nothing at all in a single
/// column.
bool needs_quotes(std::string_view text, bool only_column) {
  if (text.empty()) return only_column;
  return text.front() == ' ' || text.back() == ' ' || text.find_first_of(",\"\r\n\t") != text.npos;
}

template <typename Number>
void append_number(std::string& buffer, Number number) {
  std::array<char, 32> digits;
  buffer.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
}

}  // namespace

CsvWriter::CsvWriter(std::string path, std::span<const std::string_view> header)
    : file_(std::move(path)), columns_(header.size()) {
  if (header.empty()) throw std::invalid_argument("CsvWriter: a header needs at least one column");
  for (const std::string_view name : header) cell(name);
  end_row();
}

void CsvWriter::begin_cell() {
  if (cells_++ > 0) buffer_ += ',';
}

CsvWriter& CsvWriter::cell(std::string_view text) {
  begin_cell();
  if (!needs_quotes(text, columns_ == 1)) {
    buffer_ += text;
    return *this;
  }
  buffer_ += '"';
  for (const char c : text) {
    if (c == '"') buffer_ += '"';
    buffer_ += c;
  }
  buffer_ += '"';
  return *this;
}

CsvWriter& CsvWriter::cell(double number) {
  if (std::isnan(number)) return cell(std::string_view("nan"));  // never "-nan"
  begin_cell();
  append_number(buffer_, number);
  return *this;
}

CsvWriter& CsvWriter::cell(std::int64_t number) {
  begin_cell();
  append_number(buffer_, number);
  return *this;
}

CsvWriter& CsvWriter::cell(std::uint64_t number) {
  begin_cell();
  append_number(buffer_, number);
  return *this;
}

CsvWriter& CsvWriter::empty_cell() { return cell(std::string_view()); }

void CsvWriter::end_row() {
  if (cells_ != columns_) {
    throw std::logic_error(
        fmt::format("{}: a row of {} cells under a header of {}", file_.path(), cells_, columns_));
  }
  cells_ = 0;
  buffer_ += '\n';
  flush_if_large();
}

void CsvWriter::flush_if_large() {
  if (buffer_.size() < kFlushBytes) return;
  file_.write(buffer_);
  buffer_.clear();
}

void CsvWriter::commit() {
  if (cells_ != 0) throw std::logic_error(fmt::format("{}: commit in the middle of a row", file_.path()));
  file_.write(buffer_);
  buffer_.clear();
  file_.commit();
}

}  // namespace adbo::io
