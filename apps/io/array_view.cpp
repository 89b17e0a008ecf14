#include "io/array_view.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "io/error.h"
#include "io/text.h"

namespace adbo::io::detail {
namespace {

/// The element of row r and column c as the file has it.
double element_at(const ArrayView& array, std::size_t r, std::size_t c) {
  const std::size_t rows = array.shape[0];
  const std::size_t columns = array.data.size() / array.type.bytes / rows;
  const std::size_t place = array.fortran_order ? fortran_places(array.shape)[c] * rows + r : r * columns + c;
  double value = 0;
  decode(array.type, array.data.data() + place * array.type.bytes, 1, &value);
  return value;
}

void require_finite(const Table& table, const ArrayView& array, const kernels::DenseRows& dense) {
  if (array.type.kind != ElementKind::kFloat) return;
  for (std::size_t r = 0; r < dense.rows(); ++r) {
    const float* const row = dense.row(r);
    const float* const end = row + dense.cols();
    const float* const bad = std::find_if(row, end, [](float value) { return !std::isfinite(value); });
    if (bad == end) continue;
    const double found = element_at(array, r, static_cast<std::size_t>(bad - row));
    throw InputError(
        table.source,
        fmt::format("row {}, feature {} (counted from 1): expected {}, found {}", r + 1, bad - row + 1,
                    std::isfinite(found) ? kSinglePrecisionRange : "a finite number", found));
  }
}

/// Of label r as it stands in the file.
std::string class_name(const ElementType& type, std::string_view element, std::size_t r,
                       const std::string& source) {
  if (type.kind != ElementKind::kFloat) return integer_text(type, element.data());
  double value = 0;
  decode(type, element.data(), 1, &value);
  if (std::isfinite(value)) return label_text(value);
  throw InputError(
      source, fmt::format("label {} (counted from 1): expected a finite number, found {}", r + 1, value));
}

}  // namespace

std::vector<std::size_t> fortran_places(const std::vector<std::size_t>& shape) {
  std::size_t columns = 1;
  for (std::size_t k = 1; k < shape.size(); ++k) columns *= shape[k];
  std::vector<std::size_t> places(columns);
  for (std::size_t c = 0; c < columns; ++c) {
    std::size_t rest = c, before = columns;
    for (std::size_t k = shape.size() - 1; k >= 1; --k) {  // the last index runs fastest in c, slowest here
      before /= shape[k];
      places[c] += rest % shape[k] * before;
      rest /= shape[k];
    }
  }
  return places;
}

void set_features(Table& table, const ArrayView& array) {
  const std::vector<std::size_t>& shape = array.shape;
  if (shape.size() == 1) {
    throw InputError(
        table.source,
        fmt::format("holds {} numbers in one dimension: these look like labels; expected rows of features "
                    "(rank 2, 3 or 4)",
                    shape[0]));
  }
  if (shape.size() < 2 || shape.size() > 4) {
    throw InputError(
        table.source,
        fmt::format("expected an array of rank 2, 3 or 4 (rows first), found rank {}", shape.size()));
  }
  const std::size_t rows = shape[0];
  std::size_t columns = 1;
  // The array's bytes are there, so that the product of its sizes fits; with a size of zero nothing is
  // multiplied.
  if (array.data.empty())
    throw InputError(table.source, "holds no rows or no features: one of its sizes is 0");
  for (std::size_t k = 1; k < shape.size(); ++k) columns *= shape[k];
  if (shape.size() >= 3) table.image = ImageShape{shape[1], shape[2], shape.size() == 4 ? shape[3] : 1};

  kernels::DenseRows dense(rows, columns);
  decode_rows(array, [&dense](std::size_t r) { return dense.mutable_row(r); });
  require_finite(table, array, dense);
  table.features = std::move(dense);
}

void set_labels(Table& table, const ArrayView& array, const std::string& labels_source) {
  if (array.rank() != 1) {
    throw InputError(labels_source,
                     fmt::format("expected labels (an array of rank 1), found rank {}", array.rank()));
  }
  require_equal_counts(table, array.shape[0], labels_source);
  LabelTable classes;
  std::vector<std::int32_t> labels;
  labels.reserve(array.shape[0]);
  std::string_view before;
  for (std::size_t r = 0; r < array.shape[0]; ++r) {
    const std::string_view element = array.data.substr(r * array.type.bytes, array.type.bytes);
    const bool repeats = r > 0 && element == before;
    labels.push_back(repeats ? labels.back()
                             : classes.number_of(class_name(array.type, element, r, labels_source)));
    before = element;
  }
  set_labels(table, classes, std::move(labels));
}

void require_equal_counts(const Table& table, std::size_t label_count, const std::string& labels_source) {
  const std::size_t rows = row_count(table);
  if (rows == label_count) return;
  throw InputError(labels_source,
                   fmt::format("has {} labels, but {} has {} rows: do the two files belong together?",
                               label_count, table.source, rows));
}

}  // namespace adbo::io::detail
