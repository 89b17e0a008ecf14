#include "io/table.h"

#include <algorithm>
#include <stdexcept>

#include "io/labels.h"

namespace adbo::io {

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
  kernels::DenseRows wide(narrow.rows(), columns);
  for (std::size_t r = 0; r < narrow.rows(); ++r)
    std::copy_n(narrow.row(r), narrow.cols(), wide.mutable_row(r));
  table.features = std::move(wide);
}

}  // namespace adbo::io
