#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

#include "io/table.h"

namespace adbo::io::test {

inline std::string sparse_fault(const kernels::SparseRows& sparse, std::size_t rows, std::size_t columns) {
  if (sparse.row_begin.front() != 0 ||
      sparse.row_begin.back() != static_cast<std::int64_t>(sparse.nonzeros()) ||
      sparse.column.size() != sparse.nonzeros()) {
    return "the rows do not cover the non-zeros";
  }
  for (std::size_t r = 0; r < rows; ++r) {
    if (sparse.row_begin[r] > sparse.row_begin[r + 1]) return "a row ends before it begins";
    for (std::int64_t k = sparse.row_begin[r]; k < sparse.row_begin[r + 1]; ++k) {
      const auto at = static_cast<std::size_t>(k);
      const std::int32_t lowest = k == sparse.row_begin[r] ? 0 : sparse.column[at - 1] + 1;
      if (sparse.column[at] < lowest) return "the columns of a row do not ascend";
      if (static_cast<std::size_t>(sparse.column[at]) >= columns) return "a column is out of range";
      if (!std::isfinite(sparse.value[at])) return "a value is not finite";
    }
  }
  return {};
}

/// What keeps a table from being of use to the solver; empty: nothing.
inline std::string table_fault(const Table& table) {
  const std::size_t rows = row_count(table), columns = column_count(table);
  if (rows == 0 || columns == 0) return "the table is empty";
  if (!table.labels.empty() && table.labels.size() != rows) return "labels and rows differ in number";
  if (!table.ids.empty() && table.ids.size() != rows) return "ids and rows differ in number";
  if (!table.feature_names.empty() && table.feature_names.size() != columns) {
    return "feature names and columns differ in number";
  }
  for (const std::int32_t label : table.labels) {
    if (label < 0 || static_cast<std::size_t>(label) >= table.label_names.size()) {
      return "a label has no name";
    }
  }
  if (const auto* sparse = std::get_if<kernels::SparseRows>(&table.features)) {
    return sparse_fault(*sparse, rows, columns);
  }
  const auto& dense = std::get<kernels::DenseRows>(table.features);
  for (std::size_t r = 0; r < rows; ++r) {
    if (!std::all_of(dense.row(r), dense.row(r) + columns,
                     [](float value) { return std::isfinite(value); })) {
      return "a value is not finite";
    }
  }
  return {};
}

}  // namespace adbo::io::test
