#pragma once
// A binary array inside a file's bytes: what IDX and NPY have in common once their headers are read.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "io/element.h"
#include "io/labels.h"
#include "io/table.h"

namespace adbo::io::detail {

/// An array of `type`; data holds exactly the product of the shape.
struct ArrayView {
  std::vector<std::size_t> shape;
  ElementType type;
  std::string_view data;
  bool fortran_order = false;  ///< the first index runs fastest; in C order the last one does

  [[nodiscard]] std::size_t rank() const { return shape.size(); }
};

/// How many columns stand before each column of an array in Fortran order: [the product of the sizes behind
/// the first], by the column's number in C order.
[[nodiscard]] std::vector<std::size_t> fortran_places(const std::vector<std::size_t>& shape);

/// Converts an array that is not empty to C order; row_at(r) is where row r goes.
template <class RowAt>
void decode_rows(const ArrayView& array, const RowAt& row_at) {
  using Real = std::remove_pointer_t<decltype(row_at(std::size_t{0}))>;
  const std::size_t rows = array.rank() == 0 ? 1 : array.shape[0];
  const std::size_t columns = array.data.size() / array.type.bytes / rows;
  if (!array.fortran_order) {
    const std::size_t row_bytes = columns * array.type.bytes;
    for (std::size_t r = 0; r < rows; ++r) {
      decode(array.type, array.data.data() + r * row_bytes, columns, row_at(r));
    }
    return;
  }
  const std::vector<std::size_t> places = fortran_places(array.shape);
  const std::size_t column_bytes = rows * array.type.bytes;
  std::vector<Real> column(rows);
  for (std::size_t c = 0; c < columns; ++c) {
    decode(array.type, array.data.data() + places[c] * column_bytes, rows, column.data());
    for (std::size_t r = 0; r < rows; ++r) row_at(r)[c] = column[r];
  }
}

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
