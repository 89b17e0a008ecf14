#include "io/table.h"

#include <algorithm>
#include <stdexcept>

#include "io/labels.h"

namespace adbo::io {
namespace {

std::size_t count_nonzeros(const kernels::DenseRows& rows) {
  std::size_t count = 0;
  for (std::size_t r = 0; r < rows.rows(); ++r) {
    count += static_cast<std::size_t>(
        std::count_if(rows.row(r), rows.row(r) + rows.cols(), [](float value) { return value != 0.0F; }));
  }
  return count;
}

kernels::SparseRows sparse_copy(const kernels::DenseRows& dense, std::size_t columns) {
  kernels::SparseRows sparse;
  sparse.cols = columns;
  for (std::size_t r = 0; r < dense.rows(); ++r) {
    for (std::size_t c = 0; c < dense.cols(); ++c) {
      if (dense.row(r)[c] == 0.0F) continue;
      sparse.column.push_back(static_cast<std::int32_t>(c));
      sparse.value.push_back(dense.row(r)[c]);
    }
    sparse.row_begin.push_back(static_cast<std::int64_t>(sparse.value.size()));
  }
  return sparse;
}

kernels::DenseRows dense_copy(const kernels::DenseRows& narrow, std::size_t columns) {
  kernels::DenseRows wide(narrow.rows(), columns);
  for (std::size_t r = 0; r < narrow.rows(); ++r)
    std::copy_n(narrow.row(r), narrow.cols(), wide.mutable_row(r));
  return wide;
}

kernels::DenseRows dense_copy(const kernels::SparseRows& sparse) {
  kernels::DenseRows dense(sparse.rows(), sparse.cols);
  for (std::size_t r = 0; r < sparse.rows(); ++r) {
    for (auto k = static_cast<std::size_t>(sparse.row_begin[r]);
         k < static_cast<std::size_t>(sparse.row_begin[r + 1]); ++k) {
      dense.mutable_row(r)[sparse.column[k]] = sparse.value[k];
    }
  }
  return dense;
}

}  // namespace

std::size_t row_count(const Table& table) {
  return std::visit([](const auto& rows) { return rows.rows(); }, table.features);
}

std::size_t column_count(const Table& table) {
  if (const auto* dense = std::get_if<kernels::DenseRows>(&table.features)) return dense->cols();
  return std::get<kernels::SparseRows>(table.features).cols;
}

void unify_label_names(std::span<Table* const> tables) {
  detail::LabelTable classes;
  for (const Table* table : tables) {
    for (const std::string& name : table->label_names) classes.number_of(name);
  }
  const detail::LabelTable::Order order = classes.order();
  for (Table* table : tables) {
    std::vector<std::int32_t> united(table->label_names.size());
    for (std::size_t c = 0; c < united.size(); ++c) {
      united[c] = order.new_number[static_cast<std::size_t>(classes.number_of(table->label_names[c]))];
    }
    for (std::int32_t& label : table->labels) label = united[static_cast<std::size_t>(label)];
    table->label_names = order.names;
  }
}

void widen(Table& table, std::size_t columns) {
  if (columns <= column_count(table)) return;
  if (!table.feature_names.empty())
    throw std::invalid_argument("widen: the columns of this table have names");
  if (auto* sparse = std::get_if<kernels::SparseRows>(&table.features)) {
    sparse->cols = columns;
    return;
  }
  const auto& narrow = std::get<kernels::DenseRows>(table.features);
  const double cells = static_cast<double>(narrow.rows()) * static_cast<double>(columns);
  if (static_cast<double>(count_nonzeros(narrow)) < kDenseShare * cells) {
    table.features = sparse_copy(narrow, columns);
  } else {
    table.features = dense_copy(narrow, columns);
  }
}

void match_storage(Table& table, const Table& like) {
  if (table.features.index() == like.features.index()) return;
  if (const auto* dense = std::get_if<kernels::DenseRows>(&table.features)) {
    table.features = sparse_copy(*dense, dense->cols());
  } else {
    table.features = dense_copy(std::get<kernels::SparseRows>(table.features));
  }
}

}  // namespace adbo::io
