#include "output/row_files.h"

#include <array>
#include <cmath>
#include <string_view>

#include "io/csv_writer.h"
#include "io/npy.h"

namespace adbo::app {
namespace {

std::vector<std::string_view> suspect_header(bool corrupted) {
  std::vector<std::string_view> header{"id",     "row",   "worker",    "given_label", "predicted_label",
                                       "weight", "score", "is_suspect"};
  if (corrupted) header.insert(header.end(), {"selected_for_corruption", "label_changed"});
  return header;
}

}  // namespace

double sigmoid(double psi) {
  const double small = std::exp(-std::abs(psi));
  return (psi >= 0 ? 1.0 : small) / (1.0 + small);
}

std::string feature_name(std::span<const std::string> names, std::size_t feature) {
  return feature < names.size() ? names[feature] : std::to_string(feature);
}

void write_suspects(const std::string& path, const SuspectRows& rows) {
  const bool corrupted = !rows.changed.empty();
  io::CsvWriter csv(path, suspect_header(corrupted));
  const auto label = [&rows](std::int32_t index) {
    return rows.label_names[static_cast<std::size_t>(index)];
  };
  for (std::size_t k = 0; k < rows.rows.size(); ++k) {
    const std::size_t row = rows.rows[k];
    csv.cell(rows.ids.empty() ? std::to_string(row) : rows.ids[row])
        .cell(static_cast<std::uint64_t>(row))
        .cell(static_cast<std::uint64_t>(rows.workers[k]))
        .cell(label(rows.given_labels[k]))
        .cell(label(rows.verdicts->predicted_label[k]))
        .cell(sigmoid(rows.upper[k]))
        .cell(rows.verdicts->given_probability[k])
        .cell(rows.verdicts->is_suspect[k] != 0);
    if (corrupted) csv.cell(rows.selected[k] != 0).cell(rows.changed[k] != 0);
    csv.end_row();
  }
  csv.commit();
}

void write_coefficients(const std::string& path, std::span<const double> upper,
                        std::span<const double> coefficients, std::size_t features,
                        std::span<const std::string> feature_names,
                        std::span<const std::string> label_names) {
  const bool per_class = upper.size() > features;
  std::vector<std::string_view> header{"feature", "psi", "coefficient"};
  if (per_class) header.insert(header.begin() + 1, "class");
  io::CsvWriter csv(path, header);
  for (std::size_t j = 0; j < upper.size(); ++j) {
    csv.cell(feature_name(feature_names, j % features));
    if (per_class) csv.cell(label_names[j / features]);
    csv.cell(upper[j]).cell(coefficients[j]).end_row();
  }
  csv.commit();
}

void write_scaling(const std::string& path, const Scaling& scaling,
                   std::span<const std::string> feature_names) {
  constexpr std::array<std::string_view, 3> header{"feature", "shift", "factor"};
  io::CsvWriter csv(path, header);
  for (std::size_t c = 0; c < scaling.shift.size(); ++c) {
    csv.cell(scaling.per_column() ? feature_name(feature_names, c) : "all")
        .cell(scaling.shift[c])
        .cell(scaling.factor[c])
        .end_row();
  }
  csv.commit();
}

void write_upper(const std::string& path, std::span<const double> upper) {
  const std::array<std::size_t, 1> shape{upper.size()};
  io::write_npy(path, upper, shape);
}

void write_model(const std::string& path, std::span<const double> model, std::size_t features) {
  const std::size_t classes = model.size() / features;
  std::vector<double> transposed(model.size());
  for (std::size_t k = 0; k < features; ++k) {
    for (std::size_t c = 0; c < classes; ++c) transposed[k * classes + c] = model[c * features + k];
  }
  const std::array<std::size_t, 2> shape{features, classes};
  io::write_npy(path, transposed, shape);
}

}  // namespace adbo::app
