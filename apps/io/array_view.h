#pragma once
// A binary array inside a file's bytes: what IDX and NPY have in common once their headers are read.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/element.h"
#include "io/labels.h"
#include "io/table.h"

namespace adbo::io::detail {

/// A C-order array of `type`; data holds exactly the product of the shape.
struct ArrayView {
  std::vector<std::size_t> shape;
  ElementType type;
  std::string_view data;

  [[nodiscard]] std::size_t rank() const { return shape.size(); }
};

/// Header and extent of an IDX file. InputError when the file is not IDX, truncated or too long.
[[nodiscard]] ArrayView view_idx(std::string_view bytes, const std::string& source);
[[nodiscard]] bool looks_like_idx(std::string_view bytes);

/// Header and extent of an NPY file.
[[nodiscard]] ArrayView view_npy(std::string_view bytes, const std::string& source);
[[nodiscard]] bool looks_like_npy(std::string_view bytes);

/// Features (and the shape of the picture) of an array of rank 2, 3 or 4.
void set_features(Table& table, const ArrayView& array);

/// The labels of an array of rank 1, one a row of the table. InputError when there are more or fewer than
/// rows.
void set_labels(Table& table, const ArrayView& array, const std::string& labels_source);

/// Throws the InputError for two files that should have as many rows and labels as each other, and have not.
void require_equal_counts(const Table& table, std::size_t label_count, const std::string& labels_source);

}  // namespace adbo::io::detail
