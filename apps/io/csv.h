#pragma once
// Separated values: commas, semicolons, tabs or blanks; quotes as in RFC 4180.

#include <string>
#include <string_view>

#include "io/table.h"

namespace adbo::io {

enum class HeaderMode {
  kAuto,  // the first line is a header when none of its fields is a number and one below is
  kPresent,
  kAbsent,
};

struct CsvOptions {
  /// A name of the header, or a position: 1 is the first field, -1 the last. Empty: the last field. "none":
  /// no labels.
  std::string label_column;
  /// A name or position as above; empty: no ids.
  std::string id_column;
  HeaderMode header = HeaderMode::kAuto;
};

/// Reads a table of numbers, gzipped or not. The separator is detected; ids and labels may be words. A
/// byte-order mark, CRLF, blank lines, quoted fields (with separators and line breaks inside) are accepted.
/// Refused with an InputError naming line, column and field: an empty or missing cell, a feature that is no
/// finite float32, a row with another number of fields, an open quote, a first line that may or may not be a
/// header.
[[nodiscard]] Table read_csv(const std::string& path, const CsvOptions& options = {});

/// The same from memory; `source` names the buffer in messages.
[[nodiscard]] Table parse_csv(std::string_view text, const std::string& source,
                              const CsvOptions& options = {});

}  // namespace adbo::io
