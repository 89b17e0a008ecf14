#pragma once
// A CSV file written cell by cell.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "io/atomic_file.h"

namespace adbo::io {

/// RFC 4180 with LF line ends: words are quoted when they must be, numbers are the shortest text that reads
/// back to the same double. The file appears under its name, whole, on commit(); without commit() nothing
/// appears. Every failure to write is an OutputError. One thread.
class CsvWriter {
 public:
  /// Opens a temporary file next to `path` and writes the header; every row must have as many cells as it.
  CsvWriter(std::string path, std::span<const std::string_view> header);

  CsvWriter& cell(std::string_view text);
  CsvWriter& cell(const char* text) { return cell(std::string_view(text)); }
  CsvWriter& cell(const std::string& text) { return cell(std::string_view(text)); }
  /// Not finite: `nan`, `inf` or `-inf`.
  CsvWriter& cell(double number);
  CsvWriter& cell(std::int64_t number);
  CsvWriter& cell(std::uint64_t number);
  CsvWriter& cell(int number) { return cell(static_cast<std::int64_t>(number)); }
  CsvWriter& cell(bool value) { return cell(static_cast<std::int64_t>(value)); }
  /// A value that does not apply.
  CsvWriter& empty_cell();
  /// Ends the row; std::logic_error when it has another number of cells than the header.
  void end_row();

  /// Writes what is left and puts the file in its place.
  void commit();

 private:
  void begin_cell();
  void flush_if_large();

  AtomicFile file_;
  std::string buffer_;
  std::size_t columns_ = 0;
  std::size_t cells_ = 0;
};

}  // namespace adbo::io
