#pragma once
// IDX, the format of MNIST: a magic number (0, 0, element type, rank), `rank` big-endian 32-bit sizes, the
// elements.

#include <string>
#include <string_view>

#include "io/table.h"

namespace adbo::io {

/// Reads rank 2 (rows x features), 3 (rows x height x width) or 4 (rows x height x width x channels) of any
/// element type (08 09 0B 0C 0D 0E), gzipped or not. `labels_path`, if not empty, is an IDX file of rank 1
/// with as many labels. InputError when a file is truncated or too long (expected and present bytes) or the
/// counts differ (both numbers and both files).
[[nodiscard]] Table read_idx(const std::string& images_path, const std::string& labels_path = {});

/// The same from memory; an empty `labels_source` means no labels.
[[nodiscard]] Table parse_idx(std::string_view images, const std::string& images_source,
                              std::string_view labels = {}, const std::string& labels_source = {});

}  // namespace adbo::io
