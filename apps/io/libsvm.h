#pragma once
// LIBSVM (svmlight) text: `label index:value index:value ... # comment`, one row a line.

#include <cstddef>
#include <string>
#include <string_view>

#include "io/table.h"

namespace adbo::io {

enum class IndexBase {
  kAuto,  // 1, unless an index 0 occurs anywhere in the file
  kZero,
  kOne,
};

struct LibsvmOptions {
  IndexBase index_base = IndexBase::kAuto;
  /// The result has at least this many columns, so that train and test files get the same width.
  std::size_t min_columns = 0;
};

/// Reads a LIBSVM file, gzipped or not. Labels are numbers. `qid:` tokens are skipped (noted), rows with
/// descending indices are sorted (noted and counted), zeros may be written out. Refused with an InputError
/// naming the place: a repeated, negative, too large or malformed index, a value that is no finite float32, a
/// file without rows.
[[nodiscard]] Table read_libsvm(const std::string& path, const LibsvmOptions& options = {});

/// The same from memory; `source` names the buffer in messages.
[[nodiscard]] Table parse_libsvm(std::string_view text, const std::string& source,
                                 const LibsvmOptions& options = {});

}  // namespace adbo::io
