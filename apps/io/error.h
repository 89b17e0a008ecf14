#pragma once
// What the readers and writers throw. Readers throw InputError and nothing else, whatever the bytes are.

#include <cstddef>
#include <stdexcept>
#include <string>

namespace adbo::io {

/// A problem with an input file. what() is a whole sentence that names the place, for example
/// `train.libsvm:17:5: expected a number after "3:", found "abc"`: a reader can mend the file from it alone.
class InputError : public std::runtime_error {
 public:
  /// A problem with the file as a whole (a binary format, a missing file): `file: detail`.
  InputError(std::string file, std::string detail);
  /// A problem at a place in a text file: `file:line:column: detail`.
  InputError(std::string file, std::size_t line, std::size_t column, std::string token, std::string detail);

  [[nodiscard]] const std::string& file() const { return file_; }
  /// Line, counted from 1; 0 when the problem has no line.
  [[nodiscard]] std::size_t line() const { return line_; }
  /// Byte within the line, counted from 1; 0 when the problem has no column.
  [[nodiscard]] std::size_t column() const { return column_; }
  /// The offending text as it stands in the file; may be empty.
  [[nodiscard]] const std::string& token() const { return token_; }
  /// The message without the place.
  [[nodiscard]] const std::string& detail() const { return detail_; }

 private:
  std::string file_, token_, detail_;
  std::size_t line_ = 0, column_ = 0;
};

/// A file could not be written (full disk, missing directory, no permission). what() is `file: detail`.
class OutputError : public std::runtime_error {
 public:
  OutputError(std::string file, const std::string& detail);
  [[nodiscard]] const std::string& file() const { return file_; }

 private:
  std::string file_;
};

}  // namespace adbo::io
